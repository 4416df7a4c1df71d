import Foundation
import Glibc

/// The system's metrics of this process, with the names common to Prometheus' client libraries.
enum ProcessUsage {
    /// Lines of the exposition format; empty if the system has no `/proc`.
    static func lines() -> [String] {
        guard let stat = text("/proc/self/stat"), let usage = Usage(stat: stat) else { return [] }
        var values: [(String, String, String, Double)] = [
            ("process_cpu_seconds_total", "counter", "Processor time of the process.", usage.processorSeconds),
            ("process_virtual_memory_bytes", "gauge", "Address space of the process.", usage.virtualBytes),
            ("process_resident_memory_bytes", "gauge", "Memory of the process.", usage.residentBytes),
        ]
        if let boot = text("/proc/stat").flatMap(bootTime) {
            let start = boot + usage.startSeconds
            values.append(
                ("process_start_time_seconds", "gauge", "Start time of the process, in seconds since 1970.", start))
        }
        if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            // The directory itself is open while it is read.
            values.append(("process_open_fds", "gauge", "Open file descriptors.", Double(max(0, open - 1))))
        }
        values.append(("process_max_fds", "gauge", "The limit on file descriptors.", Double(FileDescriptors.limit)))
        return values.flatMap { name, kind, help, value in
            ["# HELP \(name) \(help)", "# TYPE \(name) \(kind)", "\(name) \(value)"]
        }
    }

    /// The used fields of `/proc/PID/stat` (proc(5)).
    struct Usage: Equatable {
        let processorSeconds: Double
        /// The start of the process, in seconds since the start of the system.
        let startSeconds: Double
        let virtualBytes: Double
        let residentBytes: Double

        /// Parses the line. The program's name, in parentheses, may contain any character.
        init?(stat: String, ticks: Double = Double(sysconf(Int32(_SC_CLK_TCK))), page: Double = Double(getpagesize())) {
            guard let end = stat.lastIndex(of: ")") else { return nil }
            // The third field is the first one after the name.
            let fields = stat[stat.index(after: end)...].split(whereSeparator: \.isWhitespace).map { Double($0) }
            guard fields.count > 21, let user = fields[11], let system = fields[12], let start = fields[19],
                let virtual = fields[20], let resident = fields[21]
            else { return nil }
            processorSeconds = (user + system) / ticks
            startSeconds = start / ticks
            virtualBytes = virtual
            residentBytes = resident * page
        }
    }

    private static func bootTime(_ stat: String) -> Double? {
        stat.split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst(6)) }
    }

    private static func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
}
