import CoreFoundation
import Foundation

/// What the kernel says of a process (proc(5)).
struct MeasuredProcess: Sendable {
    let id: Int32

    /// User and system time since its start, seconds. Its own is that of its clock, which counts nanoseconds. The time of
    /// ended children is added, which the kernel counts in hundredths.
    var processorSeconds: Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(id, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
        let children = Self.fields(id).map { $0[13..<15].compactMap(Double.init).reduce(0, +) / 100 } ?? 0
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 + children
    }

    /// Itself and all that descend from it.
    var family: [MeasuredProcess] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        let parents = names.compactMap { Int32($0) }.compactMap { id in
            Self.fields(id).flatMap { Int32($0[1]) }.map { (id: id, parent: $0) }
        }
        var (family, frontier) = ([id], Set([id]))
        while !frontier.isEmpty {
            let next = parents.filter { frontier.contains($0.parent) }.map(\.id)
            family += next
            frontier = Set(next)
        }
        return family.map(MeasuredProcess.init(id:))
    }

    /// What follows the name in `stat`: the state first, the parent second.
    private static func fields(_ id: Int32) -> [Substring]? {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
            let name = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[text.index(after: name)...].split(separator: " ")
        return fields.count > 15 ? fields : nil
    }

    /// Memory that it holds, MiB.
    var residentMiB: Double { kilobytes("VmRSS:") / 1024 }

    /// The most memory that it ever held, or since ``forgetPeak()``, MiB.
    var peakMiB: Double { kilobytes("VmHWM:") / 1024 }

    /// Begins to look for the peak anew.
    func forgetPeak() throws {
        try Data("5".utf8).write(to: URL(filePath: "/proc/\(id)/clear_refs"))
    }

    private func kilobytes(_ name: String) -> Double {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) })
        else { return 0 }
        return kilobytes
    }
}
