import Domain
import Foundation

/// The figures of a node and its store at one time. Those that are counted rise from the start of the node on.
package struct ConsoleFigures: Sendable {
    /// Rows that wait, and for how many seconds the oldest does.
    package typealias Waiting = (count: Int, age: TimeInterval)

    /// The sessions of the store at the last count of housekeeping; `nil` before the first.
    let sessions: (count: Int, at: Date)?
    /// The sessions in this node's memory.
    let live: Int
    let signIns: Int
    let refusals: [String: Int]
    let texts: Int
    /// The cost of today's texts, in thousandths of the currency.
    let spent: Int
    let review: Waiting
    /// The messages of the outbox, by kind.
    let outbox: [String: Waiting]
    let nodes: [ClusterMember]
    /// The ends of certificates, by name.
    let ends: [(name: String, at: Date)]

    package init(
        sessions: (count: Int, at: Date)?, live: Int, signIns: Int, refusals: [String: Int], texts: Int, spent: Int,
        review: Waiting, outbox: [String: Waiting], nodes: [ClusterMember], ends: [(name: String, at: Date)]
    ) {
        self.sessions = sessions
        self.live = live
        self.signIns = signIns
        self.refusals = refusals
        self.texts = texts
        self.spent = spent
        self.review = review
        self.outbox = outbox
        self.nodes = nodes
        self.ends = ends
    }
}
