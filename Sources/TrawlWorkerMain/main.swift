import Glibc
import TrawlWorker

// The worker executable. A coordinator starts it with two descriptors; started by hand there is nothing it can do.
exit(WorkerProcessMain.run())
