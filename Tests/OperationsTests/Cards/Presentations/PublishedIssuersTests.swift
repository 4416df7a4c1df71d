import Authority
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("The published list of issuers")
struct PublishedIssuersTests {
    private static let url = "https://list.example/vical"

    private static var policy: Policy {
        var policy = PresentationBench.policy
        policy.wallet.vicalURL = url
        return policy
    }

    /// Fetches a list as a node does every hour.
    @discardableResult
    private func fetch(_ list: [UInt8]?, on bench: PresentationBench) async throws -> Housekeeping.Report {
        let task = bench.fixture.context.trustListTask { url, _ in url == Self.url ? list : nil }
        return try await Housekeeping(bench.fixture.context, also: [task]).runDue()
    }

    /// Fetches a list, from which on its issuer is trusted.
    private func trust(_ list: TrustListMint, on bench: PresentationBench) async throws {
        try await fetch(list.list(), on: bench)
        try await bench.fixture.housekeeping()
        #expect(try await isAccepted(on: bench))
    }

    /// Whether a document of the issuer that only the list names is accepted.
    private func isAccepted(on bench: PresentationBench) async throws -> Bool {
        let alice = try await bench.cards.phones.person(UUID().uuidString)
        let opened = try await bench.open(.over18, alice)
        var mint = DocumentMint(bench.wallet.listed)
        mint.elements = [("age_over_18", .bool(true))]
        mint.validUntil = bench.fixture.clock.now + 86_400
        let answer = try bench.answer(opened, mint, by: .isoDocument)
        do {
            let outcome = try await bench.fixture.context.answerPresentation(
                opened.id.description, answer, for: alice.session)
            return outcome.isReached == true
        } catch let refusal as Refusal {
            #expect(refusal.code == .presentationRejected)
            return false
        }
    }

    @Test("is fetched by one node, and trusted by every node", arguments: StoreKind.shared)
    func fetched(kind: StoreKind) async throws {
        try await PresentationBench.run(Self.policy, on: kind) { bench in
            #expect(try await !isAccepted(on: bench))
            let report = try await fetch(bench.wallet.list.list(), on: bench)
            #expect(report.finished.contains("trust_list") && report.failed.isEmpty)
            // Another task is not due for an hour.
            #expect(try await !fetch(nil, on: bench).finished.contains("trust_list"))
            #expect(try await !isAccepted(on: bench))
            let round = try await bench.fixture.housekeeping()
            #expect(round.failed.isEmpty)
            #expect(try await isAccepted(on: bench))
            #expect(try await bench.count("audit_entries WHERE event = 'issuer_list_stored'") == 1)
        }
    }

    @Test("is replaced by a later one, never by an earlier one")
    func newest() async throws {
        try await PresentationBench.run(Self.policy) { bench in
            let roots = try TrustList.Roots([bench.wallet.list.root])
            var mint = bench.wallet.list
            func store(_ date: Date) async throws -> Bool {
                mint.date = date
                return try await bench.fixture.admin.storeTrustList(mint.list(), from: Self.url, rootedIn: roots).isNew
            }
            let date = mint.date
            #expect(try await store(date))
            #expect(try await !store(date))
            #expect(try await !store(date - 1))
            #expect(try await store(date + 1))
            let stored = try #require(try await bench.fixture.admin.storedTrustList(from: Self.url))
            let list = try TrustList(stored.body, rootedIn: roots, now: bench.fixture.clock.now)
            #expect(list.date == date + 1 && stored.fetchedAt == bench.fixture.clock.now)
            #expect(try await bench.count("audit_entries WHERE event = 'issuer_list_stored'") == 2)
        }
    }

    @Test("is trusted for its time and the policy's grace after it")
    func stale() async throws {
        try await PresentationBench.run(Self.policy) { bench in
            try await fetch(bench.wallet.list.list(), on: bench)
            try await bench.fixture.housekeeping()
            let grace = Self.policy.wallet.trustGrace
            bench.fixture.clock.advance(86_400 + grace - 60)
            #expect(try await isAccepted(on: bench))
            bench.fixture.clock.advance(61)
            #expect(try await !isAccepted(on: bench))
            var mint = bench.wallet.list
            (mint.date, mint.nextUpdate) = (bench.fixture.clock.now, nil)
            try await trust(mint, on: bench)
        }
    }

    @Test("of another URL is used in place of the former one, whichever is later")
    func moved() async throws {
        try await PresentationBench.run(Self.policy) { bench in
            try await trust(bench.wallet.list, on: bench)
            var policy = Self.policy
            policy.wallet.vicalURL = "https://other.example/vical"
            bench.fixture.policy.replace(with: policy)
            try await bench.fixture.housekeeping()
            #expect(try await !isAccepted(on: bench))
            let roots = try TrustList.Roots([bench.wallet.list.root])
            for (seconds, isNew) in [(-60, true), (-61, false), (0, true)] {
                var mint = bench.wallet.list
                mint.date += TimeInterval(seconds)
                let stored = try await bench.fixture.admin.storeTrustList(
                    mint.list(), from: policy.wallet.vicalURL, rootedIn: roots)
                #expect(stored.isNew == isNew)
                try await bench.fixture.housekeeping()
                #expect(try await isAccepted(on: bench))
            }
        }
    }

    @Test("that was read before the files were replaced is not used after it")
    func replaced() throws {
        let wallet = try StandInWallet()
        let files = wallet.files
        let now = wallet.listed.now
        let roots = try TrustList.Roots([wallet.list.root])
        let issuers = TrustedIssuers(trust: files.trust, reader: files.reader, listRoots: roots, now: { now })
        let list = try TrustList(wallet.list.list(), rootedIn: roots, now: now)
        func isTrusted() -> Bool {
            let use = IssuerTrust.Use.mobileDocument(type: DocumentMint.licence)
            return (try? issuers.trust.signer(of: [wallet.listed.certificate], for: use, now: now)) != nil
        }
        let before = issuers.basis
        issuers.use((Self.url, list), until: now + 60, since: before)
        #expect(isTrusted())
        issuers.replace(trust: files.trust, reader: files.reader, listRoots: nil)
        #expect(!isTrusted())
        issuers.use((Self.url, list), until: now + 60, since: before)
        issuers.extend(until: now + 60, since: before)
        #expect(!isTrusted() && issuers.basis.list == nil)
    }

    @Test("is refused for its fault, and the stored one stays")
    func faults() async throws {
        try await PresentationBench.run(Self.policy) { bench in
            for (list, words) in [
                (nil, "cannot be fetched"), ([0], TrustList.Defect.form.rawValue),
                (try TrustListMint([bench.wallet.listed], now: bench.fixture.clock.now).list(), "trusted root"),
            ] as [([UInt8]?, String)] {
                let failed = try await fetch(list, on: bench).failed
                #expect(failed.map(\.task) == ["trust_list"])
                #expect(failed.first.map { ErrorWords.of($0.cause).contains(words) } == true, "\(words)")
                // A failed task pauses for a minute.
                bench.fixture.clock.advance(61)
            }
            #expect(try await bench.count("trust_lists") == 0)
            try await fetch(bench.wallet.list.list(), on: bench)
            #expect(try await bench.count("trust_lists") == 1)
        }
    }

    @Test("is used by nobody without vical_url, or after its roots were removed")
    func unused() async throws {
        try await PresentationBench.run(Self.policy) { bench in
            try await trust(bench.wallet.list, on: bench)
            let files = bench.wallet.files
            try await bench.fixture.context.replaceWalletFiles(
                trust: files.trust, reader: files.reader, listRoots: nil)
            #expect(try await !isAccepted(on: bench))
            try await bench.fixture.context.replaceWalletFiles(
                trust: files.trust, reader: files.reader, listRoots: TrustList.Roots([bench.wallet.list.root]))
            #expect(try await isAccepted(on: bench))
            bench.fixture.policy.replace(with: PresentationBench.policy)
            try await bench.fixture.housekeeping()
            #expect(try await !isAccepted(on: bench))
        }
    }
}
