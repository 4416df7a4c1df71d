import Foundation
import Glibc

/// The process's limit on file descriptors (getrlimit(2)).
enum FileDescriptors {
    /// The current maximum for the process; 0 if unknown.
    static var limit: Int { raise(to: 0) }

    /// Raises the limit as far as the system permits, up to the wanted number; returns the resulting limit.
    static func raise(to wanted: Int) -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 0 }
        let soft = Int(clamping: limit.rlim_cur)
        guard soft < wanted else { return soft }
        let raised = min(wanted, Int(clamping: limit.rlim_max))
        limit.rlim_cur = rlim_t(clamping: raised)
        return setrlimit(resource, &limit) == 0 ? raised : soft
    }
}
