import Foundation
import Glibc

/// What the runtime writes when the process traps: where, and nothing of what it was working on.
///
/// Left alone it writes every register, and the bytes of memory that each points to: parts of requests, tokens and keys
/// among them. It reads `SWIFT_BACKTRACE` before the program's first instruction and nothing afterwards.
enum CrashReport {
    static let variable = "SWIFT_BACKTRACE"

    /// The last word on registers and memory; of a setting that stands twice the later one counts. Registers cannot be
    /// left out of the JSON form.
    static let withoutMemory = "registers=none,format=text"

    /// What the variable is to be; `nil` where it is so already.
    static func settings(replacing present: String?) -> String? {
        guard let present, !present.isEmpty else { return "enable=yes,color=no,interactive=no," + withoutMemory }
        return present == withoutMemory || present.hasSuffix("," + withoutMemory) ? nil : "\(present),\(withoutMemory)"
    }

    /// Begins the program anew under those settings: the same process, with the same arguments and files. Comes before
    /// everything else. Where that is impossible, a trap ends the process without a word.
    static func leaveOutMemory() {
        guard let settings = settings(replacing: ProcessInfo.processInfo.environment[variable]) else { return }
        setenv(variable, settings, 1)
        var arguments = CommandLine.arguments.map { strdup($0) }
        arguments.append(nil)
        // By its path, so that it goes on under its name; by the link where the file was replaced meanwhile.
        let own = "/proc/self/exe"
        if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: own) { execv(path, arguments) }
        execv(own, arguments)
        for trap in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGQUIT] { signal(trap, SIG_DFL) }
    }
}
