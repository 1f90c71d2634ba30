import ArgumentParser
import Trawl
import TrawlWorker

@main
enum Main {
    static func main() {
    }
}
