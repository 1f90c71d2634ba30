// Printed by Tests/Vectors/digest/make.py, which computes what is expected with Python's hashlib.
// swift-format-ignore-file

enum DigestVectors {
    static let nonce = "bm9uY2U=:17"
    static let clientNonce = "0123456789abcdeffedcba9876543210"
    static let count: UInt32 = 171

    static let all: [DigestVector] = [
        DigestVector(
            algorithm: "MD5", qop: "", user: "user", realm: "realm", password: "pass",
            method: "GET", target: "/", body: [], userHash: "e760591138c3df8c9c11eeba43a9f851",
            response: "d809e426e7360a4716d187c4e0dcf72f", serverResponse: "322f40338d8e32a03f6ba018125e9d2e"),
        DigestVector(
            algorithm: "MD5", qop: "", user: "user", realm: "realm", password: "pass",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "e760591138c3df8c9c11eeba43a9f851",
            response: "19df3b83ce1691b2cda33d853ea3a308", serverResponse: "0b015cb703586bb42104f63368fd216a"),
        DigestVector(
            algorithm: "MD5", qop: "", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "GET", target: "/", body: [], userHash: "b2270441f0c3bba8cd57088b42b9ce02",
            response: "ec6919dd08790e7e42724bf0330c9eb1", serverResponse: "183a6ec59f376d66524cfb370f73cb82"),
        DigestVector(
            algorithm: "MD5", qop: "", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "b2270441f0c3bba8cd57088b42b9ce02",
            response: "6634387dca49a0081f298a20edb99e92", serverResponse: "31accba74991b5646f751e73ef77dddc"),
        DigestVector(
            algorithm: "MD5", qop: "", user: "", realm: "", password: "",
            method: "GET", target: "/", body: [], userHash: "853ae90f0351324bd73ea615e6487517",
            response: "8510124409a9fa380a90ae7b785e7ff8", serverResponse: "c0b02393e1cd455b0b467c043ef277b8"),
        DigestVector(
            algorithm: "MD5", qop: "", user: "", realm: "", password: "",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "853ae90f0351324bd73ea615e6487517",
            response: "e590ab924ab94a47ebf619bd6b043e00", serverResponse: "d220147574370dda9ff75911d766a9a5"),
        DigestVector(
            algorithm: "MD5", qop: "auth", user: "user", realm: "realm", password: "pass",
            method: "GET", target: "/", body: [], userHash: "e760591138c3df8c9c11eeba43a9f851",
            response: "b48721141627363cb93ed66c697833bf", serverResponse: "2dc0f2cb7f1e625f42161e26abb82444"),
        DigestVector(
            algorithm: "MD5", qop: "auth", user: "user", realm: "realm", password: "pass",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "e760591138c3df8c9c11eeba43a9f851",
            response: "c9269576963c0101adf0ab29381788d0", serverResponse: "41a31687787214c1ad14c4044c9f9389"),
        DigestVector(
            algorithm: "MD5", qop: "auth", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "GET", target: "/", body: [], userHash: "b2270441f0c3bba8cd57088b42b9ce02",
            response: "829c44803d7d96e118303e18e1c2537f", serverResponse: "8bcbdb1b6c8d0c07abec015d0e075de1"),
        DigestVector(
            algorithm: "MD5", qop: "auth", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "b2270441f0c3bba8cd57088b42b9ce02",
            response: "493052387cfddf873e38945589ba1bbd", serverResponse: "a065591c79f1ba80080ebfc3ca7f0556"),
        DigestVector(
            algorithm: "MD5", qop: "auth", user: "", realm: "", password: "",
            method: "GET", target: "/", body: [], userHash: "853ae90f0351324bd73ea615e6487517",
            response: "58bce708b3c4038cfb5441acb3030fd6", serverResponse: "866cd156cd021a994766f7373ea0e841"),
        DigestVector(
            algorithm: "MD5", qop: "auth", user: "", realm: "", password: "",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "853ae90f0351324bd73ea615e6487517",
            response: "3e846660aeae7cac9c635366e31df070", serverResponse: "bbbdc55d442324aa28b0dc2cdb834c35"),
        DigestVector(
            algorithm: "MD5", qop: "auth-int", user: "user", realm: "realm", password: "pass",
            method: "GET", target: "/", body: [], userHash: "e760591138c3df8c9c11eeba43a9f851",
            response: "d84a652e5f05f565e658bd25aecf48ab", serverResponse: "e9d439052404321f1e34d8b10e5c60b6"),
        DigestVector(
            algorithm: "MD5", qop: "auth-int", user: "user", realm: "realm", password: "pass",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "e760591138c3df8c9c11eeba43a9f851",
            response: "775a930cc0cdfce23cd42652cdcdb14b", serverResponse: "8d392ad8ae57f1c040f919f317acae0c"),
        DigestVector(
            algorithm: "MD5", qop: "auth-int", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "GET", target: "/", body: [], userHash: "b2270441f0c3bba8cd57088b42b9ce02",
            response: "e12067749756480ae42976573951db76", serverResponse: "b8f8bab0bf70b8d9a216637cf0ab9207"),
        DigestVector(
            algorithm: "MD5", qop: "auth-int", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "b2270441f0c3bba8cd57088b42b9ce02",
            response: "4cd9aa9fb542db8b2a21d0f4230003ee", serverResponse: "a8690e1cd2c21b65fd64f8cec1b3ea93"),
        DigestVector(
            algorithm: "MD5", qop: "auth-int", user: "", realm: "", password: "",
            method: "GET", target: "/", body: [], userHash: "853ae90f0351324bd73ea615e6487517",
            response: "8490a40262dc55b3c4cf5a13b2e35ce2", serverResponse: "bde9a45d791be55308e9a730e462e5ca"),
        DigestVector(
            algorithm: "MD5", qop: "auth-int", user: "", realm: "", password: "",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "853ae90f0351324bd73ea615e6487517",
            response: "ae928a06b7f46eaa97262778ab6f0de6", serverResponse: "c0831e6e6f6061228596783cfce314a2"),
        DigestVector(
            algorithm: "MD5-sess", qop: "auth", user: "user", realm: "realm", password: "pass",
            method: "GET", target: "/", body: [], userHash: "e760591138c3df8c9c11eeba43a9f851",
            response: "d2c1e7d671df199c654e027f725f59a0", serverResponse: "ead07aa7eadf1898b8405ebddffed4b5"),
        DigestVector(
            algorithm: "MD5-sess", qop: "auth", user: "user", realm: "realm", password: "pass",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "e760591138c3df8c9c11eeba43a9f851",
            response: "d0385566d524fd7f2d12397efc687305", serverResponse: "84851e04d1cf7d7326c03641c09184b6"),
        DigestVector(
            algorithm: "MD5-sess", qop: "auth", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "GET", target: "/", body: [], userHash: "b2270441f0c3bba8cd57088b42b9ce02",
            response: "721ba78ca3665c83c1fcff026235d7d4", serverResponse: "8ad18fcfb0c3b8150c9d06fa37f60635"),
        DigestVector(
            algorithm: "MD5-sess", qop: "auth", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "b2270441f0c3bba8cd57088b42b9ce02",
            response: "6af16d47a42f6f1beeb16db27160088c", serverResponse: "0d35bacfc2704fa8a9d967ea515f7e1e"),
        DigestVector(
            algorithm: "MD5-sess", qop: "auth", user: "", realm: "", password: "",
            method: "GET", target: "/", body: [], userHash: "853ae90f0351324bd73ea615e6487517",
            response: "8f0dbcf1df8490bd106b52fb27c975a0", serverResponse: "39a405cabf42219848159bcf9d6ecbf8"),
        DigestVector(
            algorithm: "MD5-sess", qop: "auth", user: "", realm: "", password: "",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "853ae90f0351324bd73ea615e6487517",
            response: "79e381613b18a54fd34f7e1587798f6c", serverResponse: "f36ccad28ef0d7b1cf36c2400cf856a2"),
        DigestVector(
            algorithm: "MD5-sess", qop: "auth-int", user: "user", realm: "realm", password: "pass",
            method: "GET", target: "/", body: [], userHash: "e760591138c3df8c9c11eeba43a9f851",
            response: "843f2b5b912c16160a24c8cc083807de", serverResponse: "e4d8fe1554a63b57cac15bf6d8efdcd2"),
        DigestVector(
            algorithm: "MD5-sess", qop: "auth-int", user: "user", realm: "realm", password: "pass",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "e760591138c3df8c9c11eeba43a9f851",
            response: "d0e26d4d8d6e7f0d4714fb95dcea830b", serverResponse: "8c6c1a440086a18c23b04f77c1005d1d"),
        DigestVector(
            algorithm: "MD5-sess", qop: "auth-int", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "GET", target: "/", body: [], userHash: "b2270441f0c3bba8cd57088b42b9ce02",
            response: "921e21c1817bccbb4f4e0cad81e2d63b", serverResponse: "005ec42822055c05f33027616a71128c"),
        DigestVector(
            algorithm: "MD5-sess", qop: "auth-int", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "b2270441f0c3bba8cd57088b42b9ce02",
            response: "2726078fffadb76d68ad7f0c1b4b6ae6", serverResponse: "db37569d335b597667f756e59d912189"),
        DigestVector(
            algorithm: "MD5-sess", qop: "auth-int", user: "", realm: "", password: "",
            method: "GET", target: "/", body: [], userHash: "853ae90f0351324bd73ea615e6487517",
            response: "299eebdd4c074bc28bd633cba8ce7ac0", serverResponse: "fa429a85e21479d46c86f3c56c8a38c6"),
        DigestVector(
            algorithm: "MD5-sess", qop: "auth-int", user: "", realm: "", password: "",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "853ae90f0351324bd73ea615e6487517",
            response: "a7190d314eb3eb3ebe019e73e83b321e", serverResponse: "bce66f875b573cda9139d1eca5089ca1"),
        DigestVector(
            algorithm: "SHA-256", qop: "", user: "user", realm: "realm", password: "pass",
            method: "GET", target: "/", body: [], userHash: "6a3029116b47aa98bcaa325399733dc1a23cd57e26b81bef3ff6531ce624e2da",
            response: "067ba68d2019177608f950b110864467f867e32d405bb62f7b9f421582ec1c9d", serverResponse: "90c1bac2182ee83256bb973e1d6e60a195cf7e01c787f40501475ecd5d5c6968"),
        DigestVector(
            algorithm: "SHA-256", qop: "", user: "user", realm: "realm", password: "pass",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "6a3029116b47aa98bcaa325399733dc1a23cd57e26b81bef3ff6531ce624e2da",
            response: "bf7318b3be0864db066f2ac4b583b5362504c2b470f1f441275d7d8d2df65ff8", serverResponse: "c20ddb161835c0ccb7c26216ce1456e20e54a85a7c41e8d90ebc385066b75048"),
        DigestVector(
            algorithm: "SHA-256", qop: "", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "GET", target: "/", body: [], userHash: "844ce6d516d25c38ba670cb34deb1bf36c95f484ea3a280e4deb2dcffb5769b4",
            response: "c0d93fd854b6913abfc02dd27c24e347ad57dcecc7051208868d2f18f717bd78", serverResponse: "b9aad31ec023bfc31930e697f232c7bd752fc91c24fd440493d6cca9669189f1"),
        DigestVector(
            algorithm: "SHA-256", qop: "", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "844ce6d516d25c38ba670cb34deb1bf36c95f484ea3a280e4deb2dcffb5769b4",
            response: "199ddd3ccf7368c09a1f34d24ddf9ff0de1172325cf0e99056687b001fc66823", serverResponse: "6fe5e4d5516033f0f063ac350e58f2ba15c0c10947926049e0e90d018c7f755e"),
        DigestVector(
            algorithm: "SHA-256", qop: "", user: "", realm: "", password: "",
            method: "GET", target: "/", body: [], userHash: "e7ac0786668e0ff0f02b62bd04f45ff636fd82db63b1104601c975dc005f3a67",
            response: "7cfc4eff1492a148cb639341c0d7305628a7a1c54554c7e20a664c13d925141d", serverResponse: "bffac31411612144c20bdd4a1a48a09d066f0d88da2f5d437e8d779ab2d37324"),
        DigestVector(
            algorithm: "SHA-256", qop: "", user: "", realm: "", password: "",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "e7ac0786668e0ff0f02b62bd04f45ff636fd82db63b1104601c975dc005f3a67",
            response: "9b3c2b631f3c11e15e7a1c21d82c8d78cb53c9f9ffa8ecd240aa15fab3a16605", serverResponse: "4d973eb2735a5734569eb59358ff9f170e2d99205da36afde310d5964ba5e555"),
        DigestVector(
            algorithm: "SHA-256", qop: "auth", user: "user", realm: "realm", password: "pass",
            method: "GET", target: "/", body: [], userHash: "6a3029116b47aa98bcaa325399733dc1a23cd57e26b81bef3ff6531ce624e2da",
            response: "62cbb043234743d5d10d74279d69a9ba9cc2fcd980da8d9f9cf939987bd9e204", serverResponse: "d1fefa2b722b7ab0295433e93b5b0ab4f246dbc3cf7df2cc918f8da7f8d5a02b"),
        DigestVector(
            algorithm: "SHA-256", qop: "auth", user: "user", realm: "realm", password: "pass",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "6a3029116b47aa98bcaa325399733dc1a23cd57e26b81bef3ff6531ce624e2da",
            response: "6ce1697a49e4905ff3e46784620c9a5932eab38a1a440076c1475d4501cf50e0", serverResponse: "8a9f0b3d56fc1de9d9ddb2284764dc94b43ae1042cc00d3441df2cf9e8ab46d7"),
        DigestVector(
            algorithm: "SHA-256", qop: "auth", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "GET", target: "/", body: [], userHash: "844ce6d516d25c38ba670cb34deb1bf36c95f484ea3a280e4deb2dcffb5769b4",
            response: "34b24b6bdcc37fc56844b8cbc0f8532960b20d155cf36a4347c9dd06bdc6d2bb", serverResponse: "2b066adf38043a6b45d3579c73ba03b40467e93f05b6f19f39759255c3831daf"),
        DigestVector(
            algorithm: "SHA-256", qop: "auth", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "844ce6d516d25c38ba670cb34deb1bf36c95f484ea3a280e4deb2dcffb5769b4",
            response: "67253bdeaeca2aae9e4c7363b2e69635d2f062d2d46bc2e92b1c258e44059689", serverResponse: "b59ea13e95c66db0d90f692343c2724c2b4f2b9f813fe8134046428f49013672"),
        DigestVector(
            algorithm: "SHA-256", qop: "auth", user: "", realm: "", password: "",
            method: "GET", target: "/", body: [], userHash: "e7ac0786668e0ff0f02b62bd04f45ff636fd82db63b1104601c975dc005f3a67",
            response: "6e2bca71161c6ac9b462dbe9c6cd47af33bf5e24625ab09208fe7c17b88b0a30", serverResponse: "f70f1d463241c539634b1e0c4173827ea000428520d603ae4cebea7014f81e3d"),
        DigestVector(
            algorithm: "SHA-256", qop: "auth", user: "", realm: "", password: "",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "e7ac0786668e0ff0f02b62bd04f45ff636fd82db63b1104601c975dc005f3a67",
            response: "92375b247d16a64e69927667ffe2688e7440f91a34acaf26c0d7ec79f7de46f7", serverResponse: "3c6eabe33a7a95f6cf77cafefac5dd28664926e83f1280aa91efb2eaae487bc5"),
        DigestVector(
            algorithm: "SHA-256", qop: "auth-int", user: "user", realm: "realm", password: "pass",
            method: "GET", target: "/", body: [], userHash: "6a3029116b47aa98bcaa325399733dc1a23cd57e26b81bef3ff6531ce624e2da",
            response: "a0bac3b19dda5bcd27f7cb5d20e61a8bdcf443d59a0d15be5022e6f6bcfbe956", serverResponse: "3d0cb1c47fa28a4b5ec21cf384043995e96e7666e494e94cafcd0c45d1738d34"),
        DigestVector(
            algorithm: "SHA-256", qop: "auth-int", user: "user", realm: "realm", password: "pass",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "6a3029116b47aa98bcaa325399733dc1a23cd57e26b81bef3ff6531ce624e2da",
            response: "0659eeb10e0318499727fa90b565ae567d423564b2e8a0d8ee475b2f5d2201a7", serverResponse: "e3077af9b1d1604670083a3d9d280c3225138bec17daf47e80af55ac3f417310"),
        DigestVector(
            algorithm: "SHA-256", qop: "auth-int", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "GET", target: "/", body: [], userHash: "844ce6d516d25c38ba670cb34deb1bf36c95f484ea3a280e4deb2dcffb5769b4",
            response: "24633118e02eaf712827cb79106e8007ce21f3c79f7207655d1f631b19208edd", serverResponse: "6427db5e3d6f235b510a2b17b145a297f76857eaf440fcbdddf4c60696f14369"),
        DigestVector(
            algorithm: "SHA-256", qop: "auth-int", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "844ce6d516d25c38ba670cb34deb1bf36c95f484ea3a280e4deb2dcffb5769b4",
            response: "2109700f4c208e3b4084f8c6c53e1764efd503f46b2a97944026ec49495138a2", serverResponse: "d45c6a5f706d72083a896571b6107b61ec4512fe286e7cf73afee8c8cb4c2145"),
        DigestVector(
            algorithm: "SHA-256", qop: "auth-int", user: "", realm: "", password: "",
            method: "GET", target: "/", body: [], userHash: "e7ac0786668e0ff0f02b62bd04f45ff636fd82db63b1104601c975dc005f3a67",
            response: "b438116a5dcf579c3f460adb7b23256ad04bfc2c7cbc9938cf0892f3de76358b", serverResponse: "1253242b99157cd2b5e82b81e0335bae791055f68aed6e2cfe200b5aa782f067"),
        DigestVector(
            algorithm: "SHA-256", qop: "auth-int", user: "", realm: "", password: "",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "e7ac0786668e0ff0f02b62bd04f45ff636fd82db63b1104601c975dc005f3a67",
            response: "54efbdfac2fe8493fa582b72c12e987a00cb8fbff672de7743d471bfd2bf92db", serverResponse: "26c0d919e93fd16e17f358c837d4f97cd42a8d4ba3eb23ae6f4f943ebb7c5982"),
        DigestVector(
            algorithm: "SHA-256-sess", qop: "auth", user: "user", realm: "realm", password: "pass",
            method: "GET", target: "/", body: [], userHash: "6a3029116b47aa98bcaa325399733dc1a23cd57e26b81bef3ff6531ce624e2da",
            response: "473c4ec455c2f570a2b002e07d61d4ce69aa26152e1d3dc0d98f5e96d4fcfc4a", serverResponse: "8b87c10373e7804c798cb67446345d8ee4299515b3ee0f29224e6873fb11f515"),
        DigestVector(
            algorithm: "SHA-256-sess", qop: "auth", user: "user", realm: "realm", password: "pass",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "6a3029116b47aa98bcaa325399733dc1a23cd57e26b81bef3ff6531ce624e2da",
            response: "f180885e2bf41cfdfacd7a734558712329a9e045ae8275ba0c95d8e0a0b6857d", serverResponse: "fd384688e72fbf955f432fdd320c1a089b1ad0dd78d1abd9f3b6edd16474949f"),
        DigestVector(
            algorithm: "SHA-256-sess", qop: "auth", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "GET", target: "/", body: [], userHash: "844ce6d516d25c38ba670cb34deb1bf36c95f484ea3a280e4deb2dcffb5769b4",
            response: "a9a7c26afc07bf4e0d60a614aea8b2c061d172b2797b4f2831c34572e2c52424", serverResponse: "b3a7c2f0e67afec2298c9f52a234025bbd6b7acf6d1bdd66c87c0c6c5d04978f"),
        DigestVector(
            algorithm: "SHA-256-sess", qop: "auth", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "844ce6d516d25c38ba670cb34deb1bf36c95f484ea3a280e4deb2dcffb5769b4",
            response: "17673a94df9cc23c49c5ad5eb4a78c9a83ceb8fd1c6d22152fd714ccf51f49c1", serverResponse: "97e8850f69ff0be9f1b40ae9f87a93cb298146a01aede6cbdc667f1e991fc814"),
        DigestVector(
            algorithm: "SHA-256-sess", qop: "auth", user: "", realm: "", password: "",
            method: "GET", target: "/", body: [], userHash: "e7ac0786668e0ff0f02b62bd04f45ff636fd82db63b1104601c975dc005f3a67",
            response: "9374176653b233793fdce97a551d964840c3814e1784d07f520186a47f2c7f95", serverResponse: "28fac1405510962ce4c21ebf4fe2849a4109cbd3525d456c05d474ee55b6bf56"),
        DigestVector(
            algorithm: "SHA-256-sess", qop: "auth", user: "", realm: "", password: "",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "e7ac0786668e0ff0f02b62bd04f45ff636fd82db63b1104601c975dc005f3a67",
            response: "359140b93f00f4d470a14b872a2d356ea918c2159f653c1d14e988ace0ec1ac8", serverResponse: "3814ae1492828f692a7de51bbe45dc4ec9b6f8d55fe90efc9496bced05d76d62"),
        DigestVector(
            algorithm: "SHA-256-sess", qop: "auth-int", user: "user", realm: "realm", password: "pass",
            method: "GET", target: "/", body: [], userHash: "6a3029116b47aa98bcaa325399733dc1a23cd57e26b81bef3ff6531ce624e2da",
            response: "84151f1a6a6d17e410deea4c987696c7d93dc066156eb4443e869a0a7c5a8262", serverResponse: "3d55543fef794d53185b01f33e31ccaea8e09d41805b2e0ba6bf5f1f5fee4e12"),
        DigestVector(
            algorithm: "SHA-256-sess", qop: "auth-int", user: "user", realm: "realm", password: "pass",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "6a3029116b47aa98bcaa325399733dc1a23cd57e26b81bef3ff6531ce624e2da",
            response: "ef601ab8586adef003867171b60809ec8eb8613d9197d68f4149402893480b52", serverResponse: "7dc5cf9b1f6c0ebb9b669de7f63acb463ac9336b4e5bf33570c9cd495e20643d"),
        DigestVector(
            algorithm: "SHA-256-sess", qop: "auth-int", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "GET", target: "/", body: [], userHash: "844ce6d516d25c38ba670cb34deb1bf36c95f484ea3a280e4deb2dcffb5769b4",
            response: "e10c6944e4ab55e952c905ee407daf7fe9495bf8d9cdf4084689a09659e248e4", serverResponse: "f3edc491219101cfe1ea4b166d827ab6e5e7169d65c0aee40e153e8716382e5b"),
        DigestVector(
            algorithm: "SHA-256-sess", qop: "auth-int", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "844ce6d516d25c38ba670cb34deb1bf36c95f484ea3a280e4deb2dcffb5769b4",
            response: "640bd911bd94802770338ffabed9764d07ae1d811a3bac20bfbb4e61c5f14fb9", serverResponse: "ebdc417813dbf552dc925ff1b334f4a52d2ba40cbe388dc6d7a09360072df529"),
        DigestVector(
            algorithm: "SHA-256-sess", qop: "auth-int", user: "", realm: "", password: "",
            method: "GET", target: "/", body: [], userHash: "e7ac0786668e0ff0f02b62bd04f45ff636fd82db63b1104601c975dc005f3a67",
            response: "b3cdcacf211c8209d44836d6bc49b3844de337d761242b5f92e418ad8a57d62f", serverResponse: "5aeeeba5bcf3f15ed29450134d7d46c37fcd9a9b443b14d5d6c72dfa2bad62d6"),
        DigestVector(
            algorithm: "SHA-256-sess", qop: "auth-int", user: "", realm: "", password: "",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "e7ac0786668e0ff0f02b62bd04f45ff636fd82db63b1104601c975dc005f3a67",
            response: "ad9cb4ea0cd72393e67a1b00a20951341c4d70344a2fabe0617d814e0c7f369e", serverResponse: "3af9c794231dfb8afa3e10cc94bce8068f1b1cb1e6bcaf6c7d1085dfd590823e"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "", user: "user", realm: "realm", password: "pass",
            method: "GET", target: "/", body: [], userHash: "130dc7d22351a8520ee2fdadf72bd40ec055f27b3036805ac17793aa50885786",
            response: "5a302b48d5cc2b50e44ec2bc926e5220c9316ea5bbab7242bc429577711a5a6a", serverResponse: "3c24156d72d7a9be7dbd91a61ef1a442ff77dc4a5a68ba355b985a730e8bbf7e"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "", user: "user", realm: "realm", password: "pass",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "130dc7d22351a8520ee2fdadf72bd40ec055f27b3036805ac17793aa50885786",
            response: "a37410fc46b26c17c3aeb4c2dd9d22f7157db92c07ab0f891012fda573baa247", serverResponse: "fa4e19390eac8279be5e318870edc62f101338230787b288e6389b12391c2105"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "GET", target: "/", body: [], userHash: "017272c0820cb4091b044375e451ecb7e3adb2c26c05f06fab1f582d05500ba2",
            response: "c6da2ab431611bead0d7a2444f49cc5a067fed4c01b5f55a90de2d17b7fec1ec", serverResponse: "e2c1fb57b93da039ffd233fcded3f4d50fdc5cd003a96eededa0cbf33dc1296a"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "017272c0820cb4091b044375e451ecb7e3adb2c26c05f06fab1f582d05500ba2",
            response: "17bf694e7de0bb1dc8d677326ebd82c4c25d642e5ee7adb24eee70067b8b4e17", serverResponse: "155996746674dec41be32e08c88b8d708bc699e42b7ded2ac61fee8628371466"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "", user: "", realm: "", password: "",
            method: "GET", target: "/", body: [], userHash: "0fb00aa8c78769d6727b05d829abe59cdb2ef51d9f36fc57547ed1d67dde95a4",
            response: "b3e607681a64d1498b5a6f9204e0177eb7ce0b3a838168a2f83b5a95ed299503", serverResponse: "92ee409ca7a409a9b5fc24b5d3d6a321a56945d0c3d90b941c2c4f3e3ed83c05"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "", user: "", realm: "", password: "",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "0fb00aa8c78769d6727b05d829abe59cdb2ef51d9f36fc57547ed1d67dde95a4",
            response: "daa2d04c7b76ec133c42b3f84656769c25f30512398cafc9613869672c3e5724", serverResponse: "b67a7b9546270c870f388aa933b3898da8ddde4bf37fbf8a9a10fecc5cd6caf3"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "auth", user: "user", realm: "realm", password: "pass",
            method: "GET", target: "/", body: [], userHash: "130dc7d22351a8520ee2fdadf72bd40ec055f27b3036805ac17793aa50885786",
            response: "09b22f5e8bc0cd2aff8e5751c4f71573a424abd0f453be9b1f05a92983921719", serverResponse: "82856d04ec646a6d59fa0fecc72c4053d9007a0ca4341c6f7716aef6e037346e"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "auth", user: "user", realm: "realm", password: "pass",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "130dc7d22351a8520ee2fdadf72bd40ec055f27b3036805ac17793aa50885786",
            response: "9873afc83cca0f059b4b18dd396405a7a7a0da929e0455643f8c10d69f6290a5", serverResponse: "6f92c69ae67a092b4fd2abbda7970d8309d9af2c1f1e1bf416db38577df4e444"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "auth", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "GET", target: "/", body: [], userHash: "017272c0820cb4091b044375e451ecb7e3adb2c26c05f06fab1f582d05500ba2",
            response: "d7948621b40c24315e0999c98f234eab654c292f5885c327f75692aa2b67801c", serverResponse: "757ab55aa24b234a783ac076c9c8b15d0c715b50630dfdccb42ab314be358cbc"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "auth", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "017272c0820cb4091b044375e451ecb7e3adb2c26c05f06fab1f582d05500ba2",
            response: "eebc7b82434b24059d95270ece458e737de9698bc3ea9e1020e03e014671a099", serverResponse: "4d60b17a470d18b45914a0998df3296e2d02b16073cda0df1c80b003373a159e"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "auth", user: "", realm: "", password: "",
            method: "GET", target: "/", body: [], userHash: "0fb00aa8c78769d6727b05d829abe59cdb2ef51d9f36fc57547ed1d67dde95a4",
            response: "3b8724daf33baf51a01ad5f2d8e203fbe1932a30effe8f6c0e00fef4b886a476", serverResponse: "b95bfcd476f75869ce07d3c162656b1ea90460348586535489de1d3da4657f39"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "auth", user: "", realm: "", password: "",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "0fb00aa8c78769d6727b05d829abe59cdb2ef51d9f36fc57547ed1d67dde95a4",
            response: "d7825ea87daca013ade47b1493a51ce72f5e8b59ee0626618f463321193ac049", serverResponse: "b33a3d0f2e5930a4befe0cea5a3fbd2b9f76c93e53bfb514b678c0c5f1223731"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "auth-int", user: "user", realm: "realm", password: "pass",
            method: "GET", target: "/", body: [], userHash: "130dc7d22351a8520ee2fdadf72bd40ec055f27b3036805ac17793aa50885786",
            response: "a1b5b00ecf92a1edcab84b7720d8ee05ffc7058b29e5fd975dd0f6af3b910864", serverResponse: "7e713a6fef56444e8ad3688b031523c322c82ae94642c637b7c99529b493de95"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "auth-int", user: "user", realm: "realm", password: "pass",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "130dc7d22351a8520ee2fdadf72bd40ec055f27b3036805ac17793aa50885786",
            response: "1875f2bc606327020a0006ca291bec270683765e458947d4b1cbcba3a6880c5d", serverResponse: "7f5ba80dc576a1bb07e43d11b6695e005c7090aa9e6473dc0a600a5aa8d3e586"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "auth-int", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "GET", target: "/", body: [], userHash: "017272c0820cb4091b044375e451ecb7e3adb2c26c05f06fab1f582d05500ba2",
            response: "fba00cb32d82e06437c78116044666e254403d74dbe759d7261519fe639ca81f", serverResponse: "e0aa4b189a3751a8ec2ad1e81ee975b3775e49a3978097b2277066356e5a6cb2"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "auth-int", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "017272c0820cb4091b044375e451ecb7e3adb2c26c05f06fab1f582d05500ba2",
            response: "286e39bee1607c2022b49dc69bad2eb0ebdf949ca7fe0386ea31d0d66a6b560c", serverResponse: "4d1c45b676326822e401887ec0d49d67a91f3c7f96cf7dbcf54bd760945fbe55"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "auth-int", user: "", realm: "", password: "",
            method: "GET", target: "/", body: [], userHash: "0fb00aa8c78769d6727b05d829abe59cdb2ef51d9f36fc57547ed1d67dde95a4",
            response: "dd856e47338b1030e54284b6c9d752ae4812bf71742f03b24a8c10346415b4bb", serverResponse: "1c30f2e11b9a7e8a07df40b2a3baff90c29d36732e111c53dcb0b1497cc41c7e"),
        DigestVector(
            algorithm: "SHA-512-256", qop: "auth-int", user: "", realm: "", password: "",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "0fb00aa8c78769d6727b05d829abe59cdb2ef51d9f36fc57547ed1d67dde95a4",
            response: "7cee18d1e20e91c1e14b02697592b390926946ddc83515ba79698eeb9fd9c412", serverResponse: "fb626754ebef6d64abbb11babd3f874921c2b76af341a15d55f79b4c7a376b7d"),
        DigestVector(
            algorithm: "SHA-512-256-sess", qop: "auth", user: "user", realm: "realm", password: "pass",
            method: "GET", target: "/", body: [], userHash: "130dc7d22351a8520ee2fdadf72bd40ec055f27b3036805ac17793aa50885786",
            response: "6d3998f3009ef737f0d0e1862debe4a9fbfc822d4e259d0b7ae0fac7d21e3b64", serverResponse: "610ccc76d1d98036b1e2b0dc51dd4018504111f7685c8fbf606a9575575bd04b"),
        DigestVector(
            algorithm: "SHA-512-256-sess", qop: "auth", user: "user", realm: "realm", password: "pass",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "130dc7d22351a8520ee2fdadf72bd40ec055f27b3036805ac17793aa50885786",
            response: "5ffd89d068bcc3ad55d2d96010924759f64be01f394111c409e3293a1cb4f9c1", serverResponse: "445a8adc0c6951a46c0ba2e8a46c745c3bef2e28f050d736235f394e19685115"),
        DigestVector(
            algorithm: "SHA-512-256-sess", qop: "auth", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "GET", target: "/", body: [], userHash: "017272c0820cb4091b044375e451ecb7e3adb2c26c05f06fab1f582d05500ba2",
            response: "cbfe6c705c9045de4c1c2a3d58e63baf8f099ffe9ef873e7bdd1720a889b24c4", serverResponse: "7b2845da40a7c5b9b69fed22b4af9557cbea99478569fa51d9b9dca6267d35bd"),
        DigestVector(
            algorithm: "SHA-512-256-sess", qop: "auth", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "017272c0820cb4091b044375e451ecb7e3adb2c26c05f06fab1f582d05500ba2",
            response: "7f3551e3adaaeb57a10eb24e4db78c908be2c35090accb28f7b0d54337fc0ef4", serverResponse: "5747f39b766596671a1302347d5d88358c6cee50ac4b5f8f342fcee245908976"),
        DigestVector(
            algorithm: "SHA-512-256-sess", qop: "auth", user: "", realm: "", password: "",
            method: "GET", target: "/", body: [], userHash: "0fb00aa8c78769d6727b05d829abe59cdb2ef51d9f36fc57547ed1d67dde95a4",
            response: "a10ceb19237de853ddfa40f03c03a6deba2868ee9cc550b1c891be3c3440a314", serverResponse: "e56a6f52edf92f3225cb2d88e6f932245ce700d502a7d3e7a88201185b42fa80"),
        DigestVector(
            algorithm: "SHA-512-256-sess", qop: "auth", user: "", realm: "", password: "",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "0fb00aa8c78769d6727b05d829abe59cdb2ef51d9f36fc57547ed1d67dde95a4",
            response: "9078e67a33376d5a7c362a7b213dbae12b741dc88be538797e22205ca638633a", serverResponse: "e95b4ec811194385a1521181bb2b3b06554ba0bcfc1fd57eb936e18fb854f629"),
        DigestVector(
            algorithm: "SHA-512-256-sess", qop: "auth-int", user: "user", realm: "realm", password: "pass",
            method: "GET", target: "/", body: [], userHash: "130dc7d22351a8520ee2fdadf72bd40ec055f27b3036805ac17793aa50885786",
            response: "0e3ba243d6b5d7c9b0e419a5cfaa744c7147d68e92141e558c32d89bde092b5d", serverResponse: "a7091a7532ed503905a22a0139e4ec87f7b6061b6a378641e79e8b8111b2b8ac"),
        DigestVector(
            algorithm: "SHA-512-256-sess", qop: "auth-int", user: "user", realm: "realm", password: "pass",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "130dc7d22351a8520ee2fdadf72bd40ec055f27b3036805ac17793aa50885786",
            response: "3138564eb52c0dab740a14c3f98611b6d36ce4df45892cb2e4b73feb42b72d82", serverResponse: "639a7787ba555113712b46fd390f58d5e3f85c8cdb379260da20a09e94ab7f01"),
        DigestVector(
            algorithm: "SHA-512-256-sess", qop: "auth-int", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "GET", target: "/", body: [], userHash: "017272c0820cb4091b044375e451ecb7e3adb2c26c05f06fab1f582d05500ba2",
            response: "a7159c4e0bb75287096a060cc42e0e29d06936e96b74308b5c2294bb3a6172d5", serverResponse: "cfef501e76965afc8bc34a6dadb13f27a48b7cffe61d09297a01a32f38878147"),
        DigestVector(
            algorithm: "SHA-512-256-sess", qop: "auth-int", user: "Jäsøn ☕", realm: "a \"quoted\" \\ realm", password: "p:a:s:s",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "017272c0820cb4091b044375e451ecb7e3adb2c26c05f06fab1f582d05500ba2",
            response: "89ba9e40500636d3ef38548aece3b9d5627a0d4db07d6b79c0b09c65bd8e99db", serverResponse: "057928bd25ada8463961c166aeb6db03bfd533c0cbce3a519587033af8a8744b"),
        DigestVector(
            algorithm: "SHA-512-256-sess", qop: "auth-int", user: "", realm: "", password: "",
            method: "GET", target: "/", body: [], userHash: "0fb00aa8c78769d6727b05d829abe59cdb2ef51d9f36fc57547ed1d67dde95a4",
            response: "20010881a491a4b78ca3f3a937da46c66b92b3aaf8b8dfb7d19619ff13475cb1", serverResponse: "7b6cf58a3c24559f5282e95d10ec5e28f4aca02579c985b5ba3e04bd82c10f91"),
        DigestVector(
            algorithm: "SHA-512-256-sess", qop: "auth-int", user: "", realm: "", password: "",
            method: "POST", target: "/a/b?x=y,z", body: [116, 104, 101, 32, 98, 111, 100, 121, 13, 10, 0, 255], userHash: "0fb00aa8c78769d6727b05d829abe59cdb2ef51d9f36fc57547ed1d67dde95a4",
            response: "1622c1cdc820b4745fc2156c00fc7924dd4da19a92055fc39d47a073f0023c6f", serverResponse: "0977fe47d5963e2483c1eb74693bdc336d245b8710eb65918e719828bba07103"),
    ]
}
