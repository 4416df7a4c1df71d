import Foundation
import Glibc

/// The runtime's report when the process traps: only the place, and no data.
///
/// By default it contains all registers and the memory that they point to, including parts of requests, tokens and
/// keys. The runtime reads `SWIFT_BACKTRACE` only before the program's first instruction.
enum CrashReport {
    static let variable = "SWIFT_BACKTRACE"

    /// Appended to the variable, because the last of several values of a setting applies. The JSON form cannot omit
    /// registers.
    static let withoutMemory = "registers=none,format=text"

    /// The new value of the variable; `nil` if it has these settings already.
    static func settings(replacing present: String?) -> String? {
        guard let present, !present.isEmpty else { return "enable=yes,color=no,interactive=no," + withoutMemory }
        return present == withoutMemory || present.hasSuffix("," + withoutMemory) ? nil : "\(present),\(withoutMemory)"
    }

    /// Restarts the program with those settings: the same process, with the same arguments and files. It must be
    /// called before anything else. If the restart fails, traps end the process without a report.
    static func leaveOutMemory() {
        guard let settings = settings(replacing: ProcessInfo.processInfo.environment[variable]) else { return }
        setenv(variable, settings, 1)
        var arguments = CommandLine.arguments.map { strdup($0) }
        arguments.append(nil)
        // By its path, so that the process keeps its name. If the file was replaced meanwhile, by this link.
        let own = "/proc/self/exe"
        if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: own) { execv(path, arguments) }
        execv(own, arguments)
        for trap in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGQUIT] { signal(trap, SIG_DFL) }
    }
}
