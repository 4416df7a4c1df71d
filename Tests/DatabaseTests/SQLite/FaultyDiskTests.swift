import Database
import Fixtures
import Foundation
import Glibc
import Testing

/// A disk that fails while SQLite commits, and a process that is killed afterwards.
@Suite struct FaultyDiskTests {
    /// What a failing disk does (`Stores/store_faulty_disk.c`).
    enum Fault: Int32, Codable, CaseIterable {
        case cannotSynchronize = 1
        case hasNoRoom = 2
    }

    /// When the process is killed.
    enum End: Int, Codable, CaseIterable {
        /// While the disk fails.
        case duringFault
        /// After the disk has recovered and before anybody writes.
        case afterFault
        /// After another write.
        case afterNextWrite
    }

    /// What the child process writes of each of its writes, before it makes the next one.
    private enum Told: String {
        case kept, unknown, unchanged
    }

    private static func insert(_ id: Int, into store: SQLiteDatabase, _ log: FileHandle) async throws {
        let told: Told
        do {
            try await store.write { try $0.execute("INSERT INTO things (id) VALUES ($1)", [Value(id)]) }
            told = .kept
        } catch StoreError.outcomeUnknown {
            told = .unknown
        } catch StoreError.unavailable {
            told = .unchanged
        }
        try log.write(contentsOf: Data("\(id) \(told.rawValue)\n".utf8))
    }

    /// Writes whether the store says that it is in order.
    private static func check(_ store: SQLiteDatabase, _ log: FileHandle) async throws {
        let isInOrder = (try? await store.check()) != nil
        try log.write(contentsOf: Data("check \(isInOrder)\n".utf8))
    }

    /// The child: writes over the disk that the library in the directory is, and kills itself.
    private static func writeAndDie(_ directory: String, _ fault: Fault, _ end: End) async throws {
        let library = try #require(dlopen(directory + "/disk.so", RTLD_NOW))
        typealias Register = @convention(c) () -> Int32
        let register = unsafeBitCast(try #require(dlsym(library, "store_faulty_disk")), to: Register.self)
        #expect(register() == 0)
        let state = try #require(dlsym(library, "store_fault")).assumingMemoryBound(to: Int32.self)
        let log = try FileHandle(forWritingTo: URL(fileURLWithPath: directory + "/log"))
        let store = try SQLiteDatabase(path: directory + "/store.db", clock: { Date(timeIntervalSince1970: 0) })
        try await insert(1, into: store, log)
        state.pointee = fault.rawValue
        try await insert(2, into: store, log)
        try await insert(3, into: store, log)
        try await check(store, log)
        if end != .duringFault { state.pointee = 0 }
        if end == .afterNextWrite {
            try await insert(4, into: store, log)
            try await insert(5, into: store, log)
            try await check(store, log)
        }
        // Whoever asks meanwhile is told what the killed process leaves behind.
        let seen = try await store.read { try $0.query("SELECT id FROM things").map { try $0.integer(0) } }
        if end != .duringFault { try log.write(contentsOf: Data("seen \(seen)\n".utf8)) }
        kill(getpid(), SIGKILL)
    }

    @Test(
        "After a disk that failed during a commit nothing acknowledged is lost, and nothing told as unchanged is kept",
        arguments: Fault.allCases, End.allCases)
    func killed(fault: Fault, end: End) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.path
            let made = try await Command.run(
                "cc",
                [
                    "-shared", "-fPIC", "-o", path + "/disk.so", PythonProcess.interop + "Stores/store_faulty_disk.c",
                    "-lsqlite3",
                ])
            try #require(made.status == 0, "\(made.errors)")
            try Data().write(to: URL(fileURLWithPath: path + "/log"))
            let before = try SQLiteDatabase(path: path + "/store.db", clock: { Date(timeIntervalSince1970: 0) })
            try await before.write { try $0.execute("CREATE TABLE things (id BIGINT PRIMARY KEY)") }
            try await before.close()
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, fault = fault as Fault, end = end as End] in
                try await Self.writeAndDie(path, fault, end)
            }
            let store = try SQLiteDatabase(path: path + "/store.db", clock: { Date(timeIntervalSince1970: 0) })
            let found = try await store.read { try $0.query("SELECT id FROM things").map { try $0.integer(0) } }
            try await store.close()
            try Self.judge(found, String(contentsOfFile: path + "/log", encoding: .utf8), end)
        }
    }

    private static func judge(_ found: [Int64], _ log: String, _ end: End) throws {
        var (told, checks): ([Int64: Told], [String]) = ([:], [])
        for line in log.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            if words[0] == "seen" {
                #expect(words[1] == "\(found)", "\(log)")
            } else if words[0] == "check" {
                checks.append(String(words[1]))
            } else {
                let id = try #require(Int64(words[0]))
                let kind: Told = try #require(Told(rawValue: String(words[1])))
                told[id] = kind
            }
        }
        // A disk that reads and does not write is not in order, until it writes again.
        #expect(checks == (end == .afterNextWrite ? ["false", "true"] : ["false"]))
        #expect(told.keys.sorted() == (end == .afterNextWrite ? [1, 2, 3, 4, 5] : [1, 2, 3]))
        #expect(told[1] == .kept)
        #expect(told[2] == .unknown)
        #expect(told[3] != .kept)
        if end == .afterNextWrite { #expect(told[4] == .kept && told[5] == .kept) }
        for (id, told) in told {
            if told == .kept { #expect(found.contains(id), "\(id) was acknowledged and is lost") }
            if told == .unchanged { #expect(!found.contains(id), "\(id) was told as unchanged and is there") }
        }
    }
}
