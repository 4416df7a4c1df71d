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
        var list: TrustList?
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
    /// When the list was made that is used; `nil` if none is.
    var listDate: Date? { state.withLock { $0.list?.date } }

    /// Uses a list until a time, or none.
    func use(_ list: TrustList?, until end: Date) {
        state.withLock { state in
            (state.list, state.end) = (list, end)
            state.joined = list.map { state.trust.adding($0.anchors) }
        }
    }

    /// Uses the list until another time.
    func extend(until end: Date) { state.withLock { $0.end = end } }

    /// Uses other files. The list is verified again.
    func replace(trust: IssuerTrust, reader: WalletReader, listRoots: TrustList.Roots?) {
        state.withLock { $0 = State(trust: trust, reader: reader, listRoots: listRoots) }
    }
}
