// TrawlWorkerMain: the worker executable. A coordinator starts it with two descriptors, for transfers or for a proxy
// script; started by hand there is nothing it can do. It must never decide anything: all it does is call the two
// loops.

import Glibc
import TrawlPAC
import TrawlWorker

// The libraries behind libcurl have nothing to put in order that the kernel would not.
_exit(CommandLine.arguments.dropFirst().first == "pac" ? ScriptProcessMain.run() : WorkerProcessMain.run())
