import Authority
import Database
import Dispatch
import Domain
import Foundation
import Repositories
import Synchronization

/// A revocation list as it is handed out; whoever keeps it in another form knows it again by its identity.
package final class RevocationListDocument: Sendable {
    /// Its number, growing (RFC 5280 §5.2.3).
    package let number: Int64
    /// Its DER form.
    package let der: [UInt8]
    /// How many certificates it lists.
    package let entries: Int64
    package let thisUpdate: Date

    init(_ list: RevocationListRepository.Published) {
        (number, der, entries, thisUpdate) = (list.number, list.der, list.entries, list.thisUpdate)
    }
}

/// The revocation list in force, from memory: made anew when a certificate was revoked since, and before it is an hour
/// old. It is made once for all who wait for it, and outside of any transaction that writes.
///
/// A short list is waited for. While a long one is made, the one before it is handed out: a list that is a few seconds
/// behind is what its readers keep for minutes anyway.
package final class PublishRevocationList: Sendable {
    private let store: any Database
    private let authority: CertificateAuthority
    private let environment: Environment
    private let clock = ContinuousClock()
    private let state = Mutex(State())

    /// How old a list may be before the next one is made, seconds.
    static let maximumAge: TimeInterval = 1800
    /// How old a list may be that is handed out while the next one cannot be made, seconds.
    static let servedAge: TimeInterval = 3600
    /// From one list to the latest moment of its successor, seconds.
    static let validity: TimeInterval = 7 * 86_400
    /// A list of more entries is not waited for.
    static let shortList: Int64 = 1000

    private struct State {
        var list: RevocationListDocument?
        /// Whether something may have been revoked since.
        var isSuspected = true
        var making: Task<RevocationListDocument, any Error>?
        /// No long list is made before.
        var pausedUntil: ContinuousClock.Instant?
    }

    private enum Step {
        case serve(RevocationListDocument)
        case wait(Task<RevocationListDocument, any Error>)
        /// The one that is being made may lack what was revoked since it was begun.
        case waitForTheNext(Task<RevocationListDocument, any Error>)
    }

    package init(store: any Database, authority: CertificateAuthority, environment: Environment) {
        self.store = store
        self.authority = authority
        self.environment = environment
    }

    /// Says that something may have been revoked: whoever asks next has the store looked at.
    package func suspect() {
        state.withLock { $0.isSuspected = true }
    }

    /// The list in DER form.
    package func callAsFunction() async throws -> [UInt8] { try await document().der }

    /// The list; without a question to the store where nothing was revoked since the last one.
    ///
    /// - Throws: `Refusal` `unavailable` where there is none that is young enough.
    package func document() async throws -> RevocationListDocument {
        let now = environment.now()
        var failure: any Error = Refusal.revocationListChanging
        for _ in 0..<4 {
            switch state.withLock({ step(&$0, now: now) }) {
            case .serve(let list): return list
            case .waitForTheNext(let making): _ = await making.result
            case .wait(let making):
                switch await making.result {
                case .success(let list): return list
                case .failure(let error): failure = error
                }
                // The store is away, or the authority's key: what was said before holds.
                guard let list = state.withLock({ $0.list }), Self.mayBeServed(list, now: now) else { throw failure }
                return list
            }
        }
        guard let list = state.withLock({ $0.list }), Self.mayBeServed(list, now: now) else { throw failure }
        return list
    }

    private func step(_ state: inout State, now: Date) -> Step {
        if let list = state.list, !state.isSuspected, state.making == nil,
            now.timeIntervalSince(list.thisUpdate) < Self.maximumAge
        {
            return .serve(list)
        }
        let serving = state.list.flatMap { list in
            list.entries > Self.shortList && Self.mayBeServed(list, now: now) ? list : nil
        }
        if let serving, state.making != nil || state.pausedUntil.map({ clock.now < $0 }) == true {
            return .serve(serving)
        }
        if let making = state.making { return state.isSuspected ? .waitForTheNext(making) : .wait(making) }
        // What is revoked from here on is the next one's business.
        state.isSuspected = false
        let making = Task { try await self.make() }
        state.making = making
        return serving.map { .serve($0) } ?? .wait(making)
    }

    private static func mayBeServed(_ list: RevocationListDocument, now: Date) -> Bool {
        now.timeIntervalSince(list.thisUpdate) < servedAge
    }

    private func make() async throws -> RevocationListDocument {
        do {
            let list = try await refreshed()
            state.withLock { state in
                state.making = nil
                state.list = list
                // Ten seconds for each 100,000 entries, which take a second: revocations without a pause between them
                // must not take a processor.
                let pause = list.entries > Self.shortList ? min(60, Double(list.entries) / 10_000) : 0
                state.pausedUntil = clock.now + .seconds(pause)
            }
            return list
        } catch {
            state.withLock { state in
                state.making = nil
                state.isSuspected = true
            }
            throw error
        }
    }

    /// The published list where it still says everything, else the next one.
    private func refreshed() async throws -> RevocationListDocument {
        // Whoever is overtaken by another node takes that one's, or makes the next.
        for _ in 0..<8 {
            let now = environment.now()
            let (heading, revocations) = try await store.snapshot { transaction in
                (
                    try RevocationListRepository(transaction).heading(),
                    try CertificateRepository(transaction).revocations()
                )
            }
            if let heading, heading.revocations == revocations,
                now.timeIntervalSince(heading.thisUpdate) < Self.maximumAge
            {
                if let known = state.withLock({ $0.list }), known.number == heading.number { return known }
                let current = try await store.snapshot { try RevocationListRepository($0).current() }
                if let current, current.number == heading.number { return RevocationListDocument(current) }
                continue
            }
            let entries = try await entries(now: now)
            let last = heading?.number ?? 0
            let list = try await sign(entries, number: last + 1, now: now)
            let published = RevocationListRepository.Published(
                number: last + 1, der: list.der, entries: Int64(entries.count), thisUpdate: now,
                revocations: revocations)
            let isPublished = try await store.transaction { transaction in
                try RevocationListRepository(transaction).publish(published, after: last)
            }
            if isPublished { return RevocationListDocument(published) }
        }
        throw Refusal.revocationListChanging
    }

    /// How many entries are read at once.
    static let page = 5000

    /// The content, page by page, since the rows of a long list take many times its size. What is revoked meanwhile may be
    /// missing, and moves the counter that was read before: then this list is not whole.
    private func entries(now: Date) async throws -> RevocationListEntries {
        var entries = try RevocationListEntries()
        var last: (at: Date, serial: String)?
        while true {
            let mark = last
            let page = try await store.snapshot {
                try CertificateRepository($0).listed(now: now, after: mark, limit: Self.page)
            }
            for (serial, at, reason) in page {
                let reason = RevocationReason(rawValue: reason) ?? .unspecified
                try entries.append(RevokedCertificate(serial: serial, revocationDate: at, reason: reason))
            }
            guard page.count == Self.page, let end = page.last else { return entries }
            last = (end.at, end.serial)
        }
    }

    /// Signs on a thread of its own: a long list would hold up what else tasks have to do.
    private func sign(
        _ entries: RevocationListEntries, number: Int64, now: Date
    ) async throws -> RevocationList {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { [authority] in
                continuation.resume(
                    with: Result {
                        try authority.issueRevocationList(
                            entries, number: UInt64(number), thisUpdate: now,
                            nextUpdate: now.addingTimeInterval(Self.validity))
                    })
            }
        }
    }
}
