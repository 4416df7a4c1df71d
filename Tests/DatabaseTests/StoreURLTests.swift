import Foundation
import Testing

@testable import Database

@Suite struct StoreURLTests {
    @Test("The scheme names the engine", arguments: ["countersign.db", "/var/lib/countersign/store.db", "a:b"])
    func sqlite(path: String) throws {
        #expect(try StoreURL.parse("sqlite:\(path)") == .sqlite(path: path))
    }

    @Test(
        "An address that this build cannot open is refused with the scheme that it can",
        arguments: [
            "", "countersign.db", "sqlite:", "SQLITE:x", "sqlite::memory:", "sqlite:a\u{0}b", "mysql://localhost/x",
            "mysql:postgresql://localhost/x", "sqlite:" + String(repeating: "x", count: 5000),
        ])
    func refused(address: String) {
        let error = #expect(throws: StoreError.url(reason: "")) { try StoreURL.parse(address) }
        #expect(error?.description.contains("sqlite:") ?? false)
    }

    @Test(
        "A PostgreSQL address is libpq's, with several hosts and TLS, and does not print",
        arguments: [
            "postgresql://localhost/x", "postgres://secret:secret@a:5432,b:5433/x?target_session_attrs=read-write",
            "postgresql:///x?host=/run/secret&sslmode=verify-full",
        ])
    func postgresql(address: String) throws {
        let url = try StoreURL.parse(address)
        #expect(url == .postgresql(try PostgreSQLAddress(address)))
        #expect(!"\(url)".contains("secret") && !String(reflecting: url).contains("secret"))
        #expect(url.file == nil)
    }

    @Test(
        "The place of a store is told without account, password and settings",
        arguments: [
            ("sqlite:/var/lib/../store.db", "sqlite:/var/store.db"),
            ("postgresql://secret:secret@a:5432,b:5433/x?application_name=secret", "postgresql://a:5432,b:5433/x"),
            ("postgres://secret@[::1]/x", "postgresql://[::1]/x"),
            ("postgresql://a/x?password=secret", "postgresql://a/x"),
            ("postgresql:///x?host=/run/db&user=secret", "postgresql:///x?host=/run/db"),
        ])
    func place(address: String, place: String) throws {
        #expect(try StoreURL.parse(address).place == place)
    }

    @Test(
        "What libpq does not understand is refused without being repeated",
        arguments: [
            "postgresql:", "postgresql:x", "postgresql://host/x?secret=1", "postgresql://u:secret@host:5432/x?y",
            "postgresql://u:sec/secret@host/x", "postgresql://u:pa@secret@host/x", "postgresql://host/x\u{0}",
            "postgresql://" + String(repeating: "x", count: 5000),
        ])
    func refusedPostgreSQL(address: String) {
        let error = #expect(throws: StoreError.url(reason: "")) { try StoreURL.parse(address) }
        #expect(error.map { $0.description.contains("postgresql:") && !$0.description.contains("secret") } ?? false)
    }

    @Test(
        "Parameters are counted outside texts, quoted names and comments",
        arguments: [
            ("", 0), ("SELECT 1", 0), ("SELECT $1", 1), ("SELECT $2, $1, $2", 2), ("SELECT $12", 12), ("SELECT $", 0),
            ("SELECT '$3', $1", 1), ("SELECT 'it''s $3' || $2", 2), ("SELECT \"$4\"", 0), ("SELECT 1 -- $5", 0),
            ("SELECT 1 -- $5\n, $2", 2), ("SELECT /* $6 */ $1", 1), ("SELECT /*/ $6 */ 1", 0), ("SELECT '$1", 0),
            ("SELECT $0", 0), ("SELECT 6 / $1 - $2", 2),
        ])
    func parameterCount(sql: String, count: Int) {
        #expect(ParameterCount.highest(in: sql) == count)
    }

    @Test(
        "Parameters get higher numbers outside texts, quoted names and comments",
        arguments: [
            ("SELECT 1", "SELECT 1"), ("SELECT $2, $1, $12", "SELECT $9, $8, $19"),
            ("SELECT '$3', \"$4\", $1 -- $5\n, $2/*$6*/", "SELECT '$3', \"$4\", $8 -- $5\n, $9/*$6*/"),
            ("SELECT 'é' || $1", "SELECT 'é' || $8"),
        ])
    func shiftedParameters(sql: String, shifted: String) {
        #expect(ParameterCount.shift(sql, by: 7) == shifted)
        #expect(ParameterCount.shift(sql, by: 0) == sql)
    }

    @Test("A line keeps the order of arrival, whatever the amounts that are taken, and knows its bound")
    func waitingLine() {
        var line = FIFOQueue<Int>()
        var (next, expected, state) = (0, 0, UInt64(42))
        for _ in 0..<2000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let amount = Int(state >> 33) % 40
            if state >> 62 & 1 == 0 {
                for _ in 0..<amount {
                    next += line.append(next) ? 1 : 0
                }
            } else {
                let taken = line.take(atMost: amount)
                #expect(taken == Array(expected..<(expected + taken.count)))
                expected += taken.count
            }
            #expect(line.count == next - expected)
        }
        let free = FIFOQueue<Int>.capacity - line.count
        let appended = (0..<(free + 10)).filter { line.append($0) }
        #expect(appended.count == free)
    }
}
