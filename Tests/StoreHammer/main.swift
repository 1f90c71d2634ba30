// A process for the store's tests to kill: `StoreHammer MODE DIRECTORY …`. Each file has the modes of one part.

let arguments = Array(CommandLine.arguments.dropFirst())
let isKnown = try CacheModes.run(arguments) || EnvironmentModes.run(arguments)
precondition(isKnown, "no such mode")
