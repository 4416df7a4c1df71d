import Authority
import Database
import Dispatch
import Domain
import Encoding
import Foundation
import Repositories
import Synchronization

/// The current revocation list of an authority, from memory. It is made again after a revocation, and before it is an hour old. It is
/// made once for all waiting callers, and outside every writing transaction.
///
/// Callers wait for a short list. While a long one is made, the previous one is returned: its readers cache lists for
/// minutes anyway.
package final class PublishRevocationList: Sendable {
    private let store: any Database
    private let authority: CertificateAuthority
    /// The digest of the authority's key.
    package let authorityID: Digest256
    private let environment: Environment
    private let clock = ContinuousClock()
    private let state = Mutex(State())

    /// The age at which the next list is made, in seconds.
    static let maximumAge: TimeInterval = 1800
    /// The maximum age of a list that is returned while the next one cannot be made, in seconds.
    static let servedAge: TimeInterval = 3600
    /// Seconds from a list to the latest time of its successor.
    static let validity: TimeInterval = 7 * 86_400
    /// The maximum number of entries of a list that callers wait for.
    static let shortList: Int64 = 1000

    private struct State {
        var list: Document?
        /// Whether a certificate may have been revoked since.
        var isSuspected = true
        var making: Task<Document, any Error>?
        /// No long list is made before this time.
        var pausedUntil: ContinuousClock.Instant?
    }

    private enum Step {
        case serve(Document)
        case wait(Task<Document, any Error>)
        /// The list in progress may lack certificates that were revoked after it was begun.
        case waitForTheNext(Task<Document, any Error>)
    }

    package init(store: any Database, authority: CertificateAuthority, environment: Environment) {
        self.store = store
        self.authority = authority
        authorityID = authority.id
        self.environment = environment
    }

    /// The number of entries that are read at once.
    static let page = 5000
}

package extension PublishRevocationList {
    /// A published revocation list. Its identity as an object lets callers cache other forms of it.
    final class Document: Sendable {
        /// The list's number, which only rises (RFC 5280 §5.2.3).
        package let number: Int64
        package let der: [UInt8]
        /// The number of listed certificates.
        let entries: Int64
        let thisUpdate: Date

        init(_ list: RevocationListRepository.Published) {
            (number, der, entries, thisUpdate) = (list.number, list.der, list.entries, list.thisUpdate)
        }
    }

    /// Records that a certificate may have been revoked. The next caller reads the store.
    func suspect() {
        state.withLock { $0.isSuspected = true }
    }

    /// The current list in DER form.
    func callAsFunction() async throws -> [UInt8] { try await document().der }

    /// The current list. It does not read the store if nothing was revoked since the last one.
    ///
    /// - Throws: `Refusal` `unavailable` if no list is recent enough.
    func document() async throws -> Document {
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
                // The store or the authority's key is unavailable, so the previous list is returned.
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
        // Later revocations are for the next list.
        state.isSuspected = false
        let making = Task { try await self.make() }
        state.making = making
        return serving.map { .serve($0) } ?? .wait(making)
    }

    private static func mayBeServed(_ list: Document, now: Date) -> Bool {
        now.timeIntervalSince(list.thisUpdate) < servedAge
    }

    private func make() async throws -> Document {
        do {
            let list = try await refreshed()
            state.withLock { state in
                state.making = nil
                state.list = list
                // Ten seconds for each 100,000 entries, which take a second to make. Otherwise continuous revocations
                // would use one processor.
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

    /// The published list if it is still complete, otherwise a new one.
    private func refreshed() async throws -> Document {
        let authorityID = authorityID
        // If another node was faster, its list is used, or the next one is made.
        for _ in 0..<8 {
            let now = environment.now()
            let (heading, revocations) = try await store.snapshot { transaction in
                (
                    try RevocationListRepository(transaction).heading(of: authorityID),
                    try CertificateRepository(transaction).revocations()
                )
            }
            if let heading, heading.revocations == revocations,
                now.timeIntervalSince(heading.thisUpdate) < Self.maximumAge
            {
                if let known = state.withLock({ $0.list }), known.number == heading.number { return known }
                let current = try await store.snapshot { try RevocationListRepository($0).current(of: authorityID) }
                if let current, current.number == heading.number { return Document(current) }
                continue
            }
            let entries = try await entries(now: now)
            let last = heading?.number ?? 0
            let list = try await sign(entries, number: last + 1, now: now)
            let published = RevocationListRepository.Published(
                authority: authorityID, number: last + 1, der: list.der, entries: Int64(entries.count),
                thisUpdate: now, revocations: revocations)
            let isPublished = try await store.transaction { transaction in
                try RevocationListRepository(transaction).publish(published, after: last)
            }
            if isPublished { return Document(published) }
        }
        throw Refusal.revocationListChanging
    }

    /// Reads the content page by page, because the rows of a long list take many times its size. Certificates that are
    /// revoked meanwhile may be missing. They raise the counter that was read before, so the list is not considered
    /// complete.
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

    /// Signs on a separate thread, because a long list would block other tasks.
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
