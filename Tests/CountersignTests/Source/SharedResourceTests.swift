import Domain
import Fixtures
import Foundation
import Testing

@testable import Delivery
@testable import Operations

/// What one provider names must not block what another needs.
@Suite("What providers share")
struct SharedResourceTests {
    private static func rows() throws -> [[String]] {
        MarkdownDocument.rows(
            try MarkdownDocument("Sources/countersign/countersign.docc/Capacity.md").section("What providers share"))
    }

    @Test("is in the table of the document on capacity, each kind of message with its bound")
    func table() throws {
        let rows = try Self.rows()
        #expect(rows.count >= 8 && rows.allSatisfy { $0.count == 3 && $0.allSatisfy { !$0.isEmpty } })
        for kind in OutboxKind.allCases {
            let row = try #require(rows.first { MarkdownDocument.words($0[0]).contains(kind.rawValue) }, "\(kind)")
            switch kind.share {
            case .fetched: #expect(row[1] == "none", "\(kind)")
            case .turns: #expect(row[1].hasPrefix("\(kind.slots) ") && row[2].hasPrefix("turns"), "\(kind)")
            case .places(let count):
                #expect(row[1].hasPrefix("\(kind.slots) ") && row[2].hasPrefix("\(count) "), "\(kind)")
            }
        }
    }

    @Test("includes the memory for responses that are not read")
    func responses() throws {
        let rows = try Self.rows()
        let row = try #require(rows.first { MarkdownDocument.words($0[0]).contains("unsent_total") })
        let total = Policy().requests.unsentTotal / 1_048_576
        #expect(row[1].hasPrefix("\(total) MiB ") && row[2].hasPrefix("\(total / 8) MiB, an eighth"))
    }

    @Test("has a row in that table for each kind of owner of hosts, and the bounds that are in force")
    func owners() throws {
        let rows = try Self.rows()
        for kind in HostOwner.Kind.allCases {
            #expect(rows.contains { MarkdownDocument.words($0[0]).contains(kind.rawValue) }, "\(kind)")
        }
        let lists = try #require(rows.first { $0[0].contains("`\(HostOwner.Kind.credentialRoot.rawValue)`") })
        #expect(lists[1].hasPrefix("\(StatusLists.maximumFetches) fetches"))
        #expect(lists[1].contains("the last \(StatusLists.firstFetches) "))
        #expect(lists[2].hasPrefix("\(StatusLists.maximumFetchesByRoot) fetches"))
        let lookUps = try #require(rows.first { $0[0].contains("DNS") })
        #expect(
            lookUps[1].hasPrefix("\(HostResolver.atOnce) ") && lookUps[2].hasPrefix("\(HostResolver.atOnceForOwner) "))
    }

    @Test("are owned by who is trusted, not by a host that others name")
    func named() throws {
        for file in try ["Delivery", "Operations", "countersign"].flatMap({ try SourceFile.all(below: "Sources/\($0)") }
        ) {
            #expect(!file.text.contains(/of: \.\w+\([^)]*\bhost\)/), "\(file.name) makes each host an owner.")
        }
    }

    @Test("includes the system's resolver, which is asked in one place, for an owner, after the change was counted")
    func lookUps() throws {
        let files = try ["Delivery", "Operations", "API", "countersign"].flatMap {
            try SourceFile.all(below: "Sources/\($0)")
        }
        func names(_ call: String) -> Set<String> {
            Set(files.filter { $0.text.contains(call) }.map(\.name))
        }
        #expect(names("getaddrinfo(") == ["HostAddresses.swift"])
        #expect(names("HostAddresses.resolve") == ["HostResolver.swift"])
        let lookingUp = names(".isPrivate(of: ")
        #expect(!lookingUp.isEmpty && lookingUp.isSubset(of: names("countReceiverChange(")))
    }
}
