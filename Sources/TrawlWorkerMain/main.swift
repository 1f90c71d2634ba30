import Glibc
import TrawlPAC
import TrawlWorker

// The worker executable. A coordinator starts it with two descriptors; started by hand there is nothing it can do.
// The libraries behind libcurl have nothing to put in order that the kernel would not.
_exit(CommandLine.arguments.dropFirst().first == "pac" ? ScriptProcessMain.run() : WorkerProcessMain.run())
