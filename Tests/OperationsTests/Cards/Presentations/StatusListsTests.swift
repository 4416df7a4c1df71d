import Cards
import Delivery
import Domain
import Encoding
import Fixtures
import Foundation
import Synchronization
import Testing

@testable import Authority
@testable import Operations
@testable import Tokens

@Suite("The status lists of issuers")
struct StatusListsTests {
    private let issuer: WalletIssuer
    private let trust: IssuerTrust
    private let clock = ServiceFixture.Clock()
    private let server = Server()

    init() throws {
        issuer = try WalletIssuer()
        trust = IssuerTrust([try IssuerTrust.Anchor(issuer.root, types: nil)])
    }

    /// What serves the lists. It waits while it is closed.
    private final class Server: Sendable {
        private struct State {
            var lists: [String: [UInt8]] = [:]
            var fetches: [String] = []
            var owners: Set<HostOwner> = []
            var isClosed = false
        }

        private let state = Mutex(State())

        var fetches: Int { state.withLock { $0.fetches.count } }

        func publish(_ bytes: [UInt8]?, at uri: String) { state.withLock { $0.lists[uri] = bytes } }
        func close(_ isClosed: Bool) { state.withLock { $0.isClosed = isClosed } }

        var owners: Set<HostOwner> { state.withLock { $0.owners } }

        func fetch(_ uri: String, of owner: HostOwner) async -> [UInt8]? {
            state.withLock {
                $0.fetches.append(uri)
                $0.owners.insert(owner)
            }
            while state.withLock({ $0.isClosed }) { try? await Task.sleep(for: .milliseconds(1)) }
            return state.withLock { $0.lists[uri] }
        }
    }

    private var mint: StatusListMint {
        var mint = StatusListMint(issuer)
        (mint.issuedAt, mint.expiresAt) = (clock.now, clock.now + 3600)
        return mint
    }

    private func lists() -> StatusLists {
        StatusLists(now: { clock.now }, fetch: { [server] in await server.fetch($0, of: $1) })
    }

    private static func uri(_ number: Int) -> String { "https://dmv.example/status/\(number)" }

    /// An answer with a credential that the list at a URI has as valid; `nil` if it is accepted.
    private func refusal(
        _ number: Int = 1, index: UInt64 = 0, isBound: Bool = true, by lists: StatusLists
    ) async throws -> PresentationDefect.Reason? {
        let request = DocumentMint.request()
        var mint = DocumentMint(issuer)
        mint.validUntil = clock.now + 86_400
        mint.status = .map(["status_list": .map(["idx": .unsigned(index), "uri": .text(Self.uri(number))])])
        var document = try mint.document(for: request)
        if !isBound { document.deviceAuth = .map([:]) }
        let response = MintedDocument.response([document])
        do throws(PresentationDefect) {
            _ = try await PresentationVerifier(trust: trust, status: .ifPresent, lists: []).verify(
                .deviceResponse(response), to: request, now: clock.now, fetching: lists)
            return nil
        } catch { return error.reason }
    }

    /// Publishes a list in which all credentials are valid.
    private func publish(_ number: Int = 1, _ change: (inout StatusListMint) -> Void = { _ in }) throws {
        var mint = mint
        (mint.uri, mint.list) = (Self.uri(number), [0])
        change(&mint)
        server.publish(try mint.token(), at: mint.uri)
    }

    @Test("are kept for five minutes, or until exp or ttl if that is sooner", arguments: [20, 100, 300])
    func lifetime(of seconds: Int) async throws {
        let lists = lists()
        for isTimeToLive in [true, false] where seconds < 300 || !isTimeToLive {
            let before = server.fetches
            for fetch in 1...2 {
                try publish { mint in
                    if isTimeToLive { mint.timeToLive = UInt64(seconds) }
                    if !isTimeToLive, seconds < 300 { mint.expiresAt = clock.now + TimeInterval(seconds) }
                }
                #expect(try await refusal(by: lists) == nil)
                clock.advance(TimeInterval(seconds) - 1)
                #expect(try await refusal(by: lists) == nil)
                #expect(server.fetches == before + fetch)
                clock.advance(1)
            }
            clock.advance(300)
        }
    }

    @Test("that expired just now are fetched again soon, and accepted while clocks may differ")
    func tolerance() async throws {
        let lists = lists()
        try publish { $0.expiresAt = clock.now - 30 }
        for _ in 1...3 { #expect(try await refusal(by: lists) == nil) }
        #expect(server.fetches == 1)
        try publish()
        clock.advance(5)
        #expect(try await refusal(by: lists) == nil)
        #expect(server.fetches == 2)
    }

    @Test("that do not verify or cannot be fetched are fetched again after half a minute")
    func failures() async throws {
        let lists = lists()
        for (number, bytes) in [nil, Array("<html>".utf8), try StatusListMint(WalletIssuer()).token()].enumerated() {
            server.publish(bytes, at: Self.uri(number))
            for _ in 1...3 { #expect(try await refusal(number, by: lists) == .statusUnknown) }
            #expect(server.fetches == 2 * number + 1)
            try publish(number)
            clock.advance(30)
            #expect(try await refusal(number, by: lists) == nil)
            #expect(server.fetches == 2 * number + 2)
        }
    }

    @Test("that became longer are fetched again for a credential at the end, after half a minute")
    func growth() async throws {
        let lists = lists()
        try publish()
        #expect(try await refusal(index: 4, by: lists) == .statusUnknown)
        try publish { $0.list = [0, 0] }
        #expect(try await refusal(index: 4, by: lists) == .statusUnknown)
        #expect(server.fetches == 1)
        // A failure then takes nothing from the other credentials.
        server.publish(nil, at: Self.uri(1))
        clock.advance(30)
        for _ in 1...2 { #expect(try await refusal(index: 4, by: lists) == .statusUnknown) }
        #expect(try await refusal(by: lists) == nil)
        #expect(server.fetches == 2)
        try publish { $0.list = [0, 0] }
        clock.advance(30)
        #expect(try await refusal(by: lists) == nil)
        #expect(server.fetches == 2)
        #expect(try await refusal(index: 4, by: lists) == nil)
        #expect(server.fetches == 3)
    }

    @Test("are not fetched for a copy of a credential, without its device")
    func unbound() async throws {
        try publish()
        let lists = lists()
        #expect(try await refusal(isBound: false, by: lists) == .unbound)
        #expect(server.fetches == 0)
    }

    @Test("are fetched once for all who wait, and a few at a time")
    func waiting() async throws {
        let lists = lists()
        for number in 1...20 { try publish(number) }
        server.close(true)
        try await withThrowingTaskGroup(of: PresentationDefect.Reason?.self) { group in
            for _ in 1...9 { group.addTask { try await refusal(by: lists) } }
            while server.fetches < 1 { try await Task.sleep(for: .milliseconds(1)) }
            for number in 2...StatusLists.maximumFetchesByRoot {
                group.addTask { try await refusal(number, by: lists) }
            }
            while server.fetches < StatusLists.maximumFetchesByRoot { try await Task.sleep(for: .milliseconds(1)) }
            // No other fetch begins, and nobody waits for one.
            #expect(try await refusal(20, by: lists) == .statusUnknown)
            server.close(false)
            for try await reason in group { #expect(reason == nil) }
        }
        #expect(server.fetches == StatusLists.maximumFetchesByRoot)
        #expect(try await refusal(20, by: lists) == nil)
    }

    @Test("are fetched for the root of their issuer, whatever hosts it names, and no four slow roots take all places")
    func owners() async throws {
        let (lists, slow) = (lists(), (1...4).map { [UInt8($0)] })
        server.close(true)
        let defect = StatusList.Defect("none")
        func find(_ number: Int, _ root: [UInt8]) async -> Bool {
            let uri = "https://dmv-\(number).example/status"
            let name = StatusListName(uri: uri, root: root, format: .mobileDocument)
            let found = await lists.find(name, for: 0) { _, _ throws(StatusList.Defect) in throw defect }
            guard case .failure(let found) = found else { return false }
            return found == StatusList.Defect.unavailable(uri)
        }
        await withTaskGroup(of: Bool.self) { group in
            var begun = 0
            for root in slow {
                for number in 1...20 { group.addTask { await find(number, root) } }
                begun = min(begun + StatusLists.maximumFetchesByRoot, StatusLists.maximumFetches - 3)
                while server.fetches < begun { try? await Task.sleep(for: .milliseconds(1)) }
            }
            for number in 5...7 {
                group.addTask { await find(1, [UInt8(number)]) }
                while server.fetches < begun + number - 4 { try? await Task.sleep(for: .milliseconds(1)) }
            }
            #expect(await find(1, [8]))
            #expect(server.owners.count == 7)
            server.close(false)
            for await isAway in group { #expect(isAway) }
        }
    }

    @Test("leave the memory one after the other, the oldest first")
    func eviction() async throws {
        let lists = lists()
        let verified = try StatusList(mint.token(), for: .mobileDocument).verified(
            at: mint.uri, signer: .success(issuer.signer()), now: clock.now)
        for number in 0...StatusLists.maximumCount {
            server.publish([], at: Self.uri(number))
            _ = await lists.find(Self.name(number), for: 0) { _, _ in verified }
            clock.advance(0.01)
        }
        #expect(lists.kept(Self.name(0), for: 0) == nil)
        for number in 1...StatusLists.maximumCount { #expect(lists.kept(Self.name(number), for: 0) != nil) }
    }

    @Test("together are limited in bytes")
    func size() async throws {
        let lists = lists()
        let large = StatusList.Verified(
            lifetime: 300, bits: 1, statuses: [UInt8](repeating: 0, count: StatusList.maximumDecompressed))
        let count = StatusLists.maximumSize / StatusList.maximumDecompressed
        for number in 0...count {
            server.publish([], at: Self.uri(number))
            _ = await lists.find(Self.name(number), for: 0) { _, _ in large }
            clock.advance(1)
        }
        #expect(
            (0...count).map { lists.kept(Self.name($0), for: 0) != nil } == [false]
                + Array(repeating: true, count: count))
    }

    private static func name(_ number: Int) -> StatusListName {
        StatusListName(uri: uri(number), root: [1], format: .mobileDocument)
    }
}
