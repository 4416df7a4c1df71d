import Domain
import Encoding
import Fixtures
import Foundation
import Testing

/// What ends the process when a value does not fit must not meet a value from outside.
@Suite("Traps")
struct TrapTests {
    @Test("A number that no integer holds becomes the nearest one")
    func saturating() {
        #expect(Int(saturating: 1.9) == 1 && Int(saturating: -1.9) == -1)
        #expect(Int(saturating: .infinity) == .max && Int(saturating: -.infinity) == .min)
        #expect(Int(saturating: .nan) == 0 && Int(saturating: .greatestFiniteMagnitude) == .max)
        #expect(Int64(saturating: -0.5) == 0 && Int64(saturating: -1) == -1 && Int64(saturating: 1e30) == .max)
        #expect(Int64(saturating: 9_223_372_036_854_774_784) == 9_223_372_036_854_774_784)
        #expect(Int64(saturating: 9_223_372_036_854_775_808) == .max)
    }

    @Test("A time that no row can hold is written as the nearest one, whatever made it")
    func times() {
        for seconds in [Double.infinity, -.infinity, .greatestFiniteMagnitude, -1e300] {
            let time = Date(timeIntervalSince1970: seconds)
            #expect(time.milliseconds == (seconds > 0 ? .max : .min))
            #expect(time.rfc3339.hasPrefix(seconds > 0 ? "9999-" : "0000-"))
        }
    }

    /// What Swift ends the process by, as it stands in a line of source.
    private static var traps: [(name: String, pattern: Regex<AnyRegexOutput>)] {
        [
            ("abs traps at the least integer: .magnitude does not", Regex(/\babs\(/)),
            ("try! and as!", Regex(/\btry!|\bas!/)),
            (
                "a failure on purpose",
                Regex(/\b(?:fatalError|preconditionFailure|precondition|assertionFailure|assert)\(/)
            ),
            ("force unwrapping", Regex(/[A-Za-z0-9_)\]]!(?:[.,)\]\s]|$)/)),
            (
                "a rounded number: Int(saturating:)",
                Regex(/\bU?Int(?:8|16|32|64)?\((?!saturating:|exactly:).*\.rounded\(/)
            ),
        ]
    }

    /// Places where the number is the operator's or the clock's of the store.
    private static let known: Set<String> = [
        "PostgreSQLConnection.swift", "StatusRepository.swift", "PhoneSendRepository.swift", "WebhookSender.swift",
        "CertificateTime.swift",
    ]

    @Test(
        "The sources take none of them where a value from outside may come by",
        arguments: [
            "Encoding", "PhoneNumbers", "Domain", "Tokens", "Authority", "Cards", "Database", "Repositories",
            "Delivery",
            "Operations", "API",
        ])
    func sources(target: String) throws {
        let files = try SourceFile.all(of: target)
        #expect(!files.isEmpty)
        let traps = Self.traps
        for file in files where !Self.known.contains(file.name) {
            for (number, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let code = line.drop { $0 == " " }
                // A text may say what it likes.
                guard !code.hasPrefix("//"), !code.contains("\"") || code.contains("\\(") else { continue }
                // Few lines have any of these, and matching takes long.
                guard code.utf8.contains(UInt8(ascii: "!")) || code.utf8.contains(UInt8(ascii: "(")) else { continue }
                for trap in traps {
                    #expect(!code.contains(trap.pattern), "\(target)/\(file.path):\(number + 1): \(trap.name)")
                }
            }
        }
    }

    @Test("The scan finds what it looks for")
    func scan() {
        let lines = [
            "let a = abs(x)", "let a = try! f()", "fatalError(\"no\")", "let a = b!", "let a = b!.c",
            "let a = Int(seconds.rounded(.up))", "let a = Int64((seconds * 1000).rounded())",
        ]
        for line in lines { #expect(Self.traps.contains { line.contains($0.pattern) }, "\(line)") }
        for line in ["if !a { b }", "a != b", "let a = Int(saturating: seconds.rounded(.up))", "guard a else { b }"] {
            #expect(!Self.traps.contains { line.contains($0.pattern) }, "\(line)")
        }
    }
}
