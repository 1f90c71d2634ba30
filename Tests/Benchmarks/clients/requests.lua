-- wrk -s requests.lua http://PROXY -- LIST: asks a proxy for the URLs of LIST, each in its turn, over and over.
local requests, last = {}, 0

function init(arguments)
    for url in io.lines(arguments[1]) do
        wrk.headers["Host"] = url:match("^http://([^/]+)")
        requests[#requests + 1] = wrk.format("GET", url)
    end
end

function request()
    last = last % #requests + 1
    return requests[last]
end
