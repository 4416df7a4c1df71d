import Authority
import Domain
import Foundation
import Synchronization

/// The issuers that a node trusts: those among its keys and those of the newest list, and its certificate for wallets.
final class TrustedIssuers: Sendable {
    private let now: @Sendable () -> Date
    private let state: Mutex<State>

    private struct State {
        var trust: IssuerTrust
        var reader: WalletReader
        var listRoots: TrustList.Roots?
        /// The number of times that the files were replaced.
        var generation: UInt64 = 0
        /// The URL and the date of the list that is used; `nil` if none is.
        var list: (url: String, date: Date)?
        /// The issuers of the files and of the list, which are joined once.
        var joined: IssuerTrust?
        /// Until when the list is used.
        var end = Date.distantPast
    }

    init(
        trust: IssuerTrust, reader: WalletReader, listRoots: TrustList.Roots?, now: @escaping @Sendable () -> Date
    ) {
        self.now = now
        state = Mutex(State(trust: trust, reader: reader, listRoots: listRoots))
    }

    var trust: IssuerTrust {
        let now = now()
        return state.withLock { state in
            guard let joined = state.joined, now <= state.end else { return state.trust }
            return joined
        }
    }

    var reader: WalletReader { state.withLock { $0.reader } }
    var listRoots: TrustList.Roots? { state.withLock { $0.listRoots } }

    /// What a refresh of the list begins with. The files may be replaced while it reads the stored list.
    struct Basis {
        let generation: UInt64
        let listRoots: TrustList.Roots?
        let list: (url: String, date: Date)?
    }

    var basis: Basis {
        state.withLock { Basis(generation: $0.generation, listRoots: $0.listRoots, list: $0.list) }
    }

    /// Uses a list until a time, or none, unless the files were replaced since: other roots must verify it again.
    func use(_ list: (url: String, content: TrustList)?, until end: Date, since basis: Basis) {
        state.withLock { state in
            guard state.generation == basis.generation else { return }
            (state.list, state.end) = (list.map { ($0.url, $0.content.date) }, end)
            state.joined = list.map { state.trust.adding($0.content.anchors) }
        }
    }

    /// Uses the list until another time, unless the files were replaced since.
    func extend(until end: Date, since basis: Basis) {
        state.withLock { state in
            guard state.generation == basis.generation else { return }
            state.end = end
        }
    }

    /// Uses other files. The list is verified again.
    func replace(trust: IssuerTrust, reader: WalletReader, listRoots: TrustList.Roots?) {
        state.withLock { state in
            state = State(
                trust: trust, reader: reader, listRoots: listRoots, generation: state.generation &+ 1)
        }
    }
}
