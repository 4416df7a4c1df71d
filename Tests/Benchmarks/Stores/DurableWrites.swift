import Foundation
import NIOPosix

#if canImport(Glibc)
    import Glibc
#endif

/// Writes of 8 KiB, each made durable, 20 a second: the limit of what a commit can take on the same disk meanwhile.
actor DurableWrites {
    private var longest = 0.0

    /// Goes on until its task is cancelled.
    func run() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "durable-\(UUID().uuidString)").path
        let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw BenchmarkError("no file at \(path)") }
        defer {
            close(file)
            unlink(path)
        }
        let page = [UInt8](repeating: 0x5a, count: 8192)
        while !Task.isCancelled {
            let taken = try await NIOThreadPool.singleton.runIfActive {
                let start = ContinuousClock.now
                guard pwrite(file, page, page.count, 0) == page.count, fdatasync(file) == 0 else {
                    throw BenchmarkError("a write to \(path) failed")
                }
                return (ContinuousClock.now - start) / .milliseconds(1)
            }
            longest = max(longest, taken)
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    /// The longest since this was called before, in milliseconds.
    func takeLongest() -> Double {
        defer { longest = 0 }
        return longest
    }
}
