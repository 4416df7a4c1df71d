import Fixtures
import Foundation
import Testing

/// How long tests wait for what must come: a machine that is busy takes ten times as long as a free one.
@Suite("Deadlines of tests")
struct DeadlineRuleTests {
    /// Loops of scripts that sleep, with their number and the reason why none is a wait by `soon`.
    private static let loops: [String: (count: Int, reason: String)] = [
        "Attacks/attack_connections.py": (3, "attacks, and measures beside them"),
        "Attacks/attack_messages.py": (1, "measures a peak"),
        "Attacks/attack_store.py": (3, "measures for a time, and until a ban is in force"),
        "Bans/ban.py": (3, "kills at moments of chance, waits until a ban must be in force, and measures that"),
        "Certificates/captcha.py": (1, "is an endpoint that drips"),
        "Certificates/revocations.py": (2, "are a load at a rate"),
        "Cluster/database_cluster.py": (1, "measures a promotion that has a bound"),
        "Cluster/fault_cases.py": (4, "are parts of faults, and judge each moment of one"),
        "Cluster/fault_load.py": (3, "are the load, and a code that need not come"),
        "Cluster/fault_machines.py": (1, "is a part of a fault"),
        "Cluster/fault_restores.py": (4, "act and judge while a fault lasts"),
        "Cluster/node_world.py": (1, "judges the bound within which nodes agree"),
        "Devices/kills.py": (3, "are the load, and kill at moments of chance"),
        "Devices/replica.py": (1, "repeats a request with a number of its own each time"),
        "HTTP/http2.py": (1, "lets the service read what is cancelled"),
        "HTTP/messages.py": (4, "let the service read what is cut off"),
        "Listeners/hoard.py": (2, "are a load, and hold it for a time"),
        "Listeners/proxied.py": (1, "sends in pieces"),
        "Listeners/slow.py": (1, "is the load beside slow ones"),
        "Migration/load.py": (1, "is a load"),
        "Phone/phone.py": (2, "are a load, and the moment of a kill"),
        "Process/rotation.py": (2, "are a load, and kills at moments of chance"),
        "Process/stopping.py": (1, "is a load"),
        "QuickStarts/quickstart_siege.py": (1, "lets a minute pass"),
        "QuickStarts/quickstarts.py": (1, "lets a second pass"),
        "Sessions/held.py": (2, "let the service read half a request"),
        "Shared/checks.py": (1, "is `soon`"),
        "Shared/proxy.py": (1, "is a slow store"),
    ]

    /// Deadlines below a minute, with the reason why more time would be wrong.
    private static let deadlines: [String: (count: Int, reason: String)] = [
        "Interop/Attacks/attack_connections.py": (1, "measures for a time"),
        "Interop/Authorizations/calls.py": (1, "counts the answers until none comes"),
        "Interop/Bans/connections.py": (1, "reads what is there"),
        "Interop/Cluster/database_cluster.py": (1, "kills what does not end"),
        "Interop/Cluster/fault_load.py": (1, "asks for a code that need not come"),
        "Interop/Cluster/fault_machines.py": (1, "asks whether a server ends"),
        "Interop/Cluster/fault_restores.py": (1, "judges all answers for a time"),
        "Interop/Devices/page_sync.py": (1, "repeats a notice that may come too early"),
        "Interop/HTTP/bodies.py": (1, "reads what is there"),
        "Interop/Listeners/crowding.py": (3, "ask whether a connection is open, and end before the request timeout"),
        "Interop/Listeners/hostile.py": (3, "read an answer that need not come"),
        "Interop/Listeners/proxied.py": (1, "asks whether a connection is open"),
        "Interop/Messaging/departures.py": (3, "end before a synchronization ends by itself"),
        "Interop/Samples/sample_recordings.py": (1, "is the length of a recording"),
        "Interop/Process/stopping.py": (1, "ends before the shutdown timeout"),
        "Interop/Sessions/held.py": (2, "closes without an answer, and ends before the calls end by themselves"),
        "Interop/Shared/postgresql.py": (1, "kills what does not end"),
        "CountersignTests/Process/CrashReportTests.swift": (1, "is for an end by a signal"),
    ]

    /// The files of these kinds below a folder, by their paths in it.
    private static func files(_ folder: String, _ kinds: Set<String>) throws -> [String: String] {
        let place = RunningService.root.appending(path: folder)
        var found: [String: String] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: place.path)
        where kinds.contains((name as NSString).pathExtension) && !name.hasPrefix("Benchmarks/") {
            found[name] = try String(contentsOf: place.appending(path: name), encoding: .utf8)
        }
        return found
    }

    /// How many sleeps of a script are in a loop of their function: a line with less indentation begins it.
    private static func sleepingLoops(_ text: String) -> Int {
        var (count, outer) = (0, [(indentation: Int, words: Substring)]())
        for line in text.split(separator: "\n") {
            let words = line.drop { $0 == " " }
            let indentation = line.count - words.count
            outer.removeAll { $0.indentation >= indentation }
            let function = outer.lastIndex { $0.words.hasPrefix("def ") || $0.words.hasPrefix("class ") }
            let isLoop = outer.suffix(from: function ?? 0).contains {
                $0.words.hasPrefix("for ") || $0.words.hasPrefix("while ")
            }
            if isLoop, words.contains("time.sleep(") { count += 1 }
            outer.append((indentation, words))
        }
        return count
    }

    /// How many numbers of seconds below a minute are deadlines.
    private static func shortDeadlines(_ text: String, in name: String) -> Int {
        let seconds: [Substring]
        switch (name as NSString).pathExtension {
        case "py":
            let form =
                /(?:timeout=|seconds=|monotonic\(\) \+ |\.join\(|\.settimeout\()([0-9]+(?:\.[0-9]+)?)(?=[,):\n]|$)/
            // A client of httpx that is told no time waits five seconds.
            let untold = /httpx\.(?:Async)?(Client)\((?![^\n]*timeout=)/
            seconds = text.matches(of: form).map(\.1) + text.matches(of: untold).map(\.1)
        case "java":
            seconds = text.matches(of: /(?:get|await|waitFor)\(([0-9]+), TimeUnit\.SECONDS/).map(\.1)
        default:
            let ends = /(?:ContinuousClock\.now \+ \.seconds\(|wait\(timeout: \.now\(\) \+ )([0-9]+)/
            let calls = /(?:ended\(within: |eventually\(seconds: )([0-9]+)/
            seconds = text.matches(of: ends).map(\.1) + text.matches(of: calls).map(\.1)
        }
        return seconds.count { Double($0).map { $0 < 60 } ?? true }
    }

    /// Loops on one line that look so often, with a pause of so many milliseconds.
    private static func shortLoops(_ text: String) -> Int {
        text.matches(of: /for _ in 0\.\.<([0-9]+) where [^\n]*Task\.sleep\(for: \.milliseconds\(([0-9]+)\)/)
            .count { (Double($0.1) ?? 0) * (Double($0.2) ?? 0) < 60_000 }
    }

    @Test("A script that waits for what must come waits by the one helper")
    func scripts() throws {
        let found = try Self.files("Tests/Interop", ["py"]).mapValues(Self.sleepingLoops).filter { $0.value > 0 }
        #expect(found == Self.loops.mapValues(\.count))
    }

    @Test("A deadline is a minute or more, so it is against hanging only")
    func times() throws {
        var found = try Self.files("Tests", ["py", "swift"])
        found.merge(try Self.files("Sources/CountersignAndroid/src/test", ["java"])) { $1 }
        let short = Dictionary(
            uniqueKeysWithValues: found.map {
                ($0.key, Self.shortDeadlines($0.value, in: $0.key) + Self.shortLoops($0.value))
            })
        #expect(short.filter { $0.value > 0 } == Self.deadlines.mapValues(\.count))
    }

    @Test("A row that a script writes has no fixed time: maintenance would delete it after a minute")
    func rows() throws {
        let scripts = try Self.files("Tests/Interop", ["py"]).filter { $0.value.contains("INSERT INTO") }
        #expect(scripts.count > 3)
        let fixed = scripts.filter { $0.value.contains(/\b1_?[5-9]\d\d_?\d{3}_?\d{3}(_?\d{3})?\b/) }
        // No task deletes the entries of the audit log.
        #expect(fixed.keys.sorted() == ["Audit/audit.py"])
    }
}
