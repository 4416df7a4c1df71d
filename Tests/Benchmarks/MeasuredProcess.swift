import Foundation

/// What the kernel says of a process (proc(5)).
struct MeasuredProcess: Sendable {
    let id: Int32

    /// User and system time since its start, seconds; the kernel counts in hundredths.
    var processorSeconds: Double {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
            let name = text.lastIndex(of: ")")
        else { return 0 }
        let fields = text[name...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return 0 }
        return (user + system) / 100
    }

    /// Memory that it holds, MiB.
    var residentMiB: Double { kilobytes("VmRSS:") / 1024 }

    /// The most memory that it ever held, MiB.
    var peakMiB: Double { kilobytes("VmHWM:") / 1024 }

    private func kilobytes(_ name: String) -> Double {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) })
        else { return 0 }
        return kilobytes
    }
}
