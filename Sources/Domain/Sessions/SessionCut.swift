import Encoding
import Foundation

/// That a generation rose, and ended all sessions of earlier ones, whose rows are still to say so.
package struct SessionCut: Sendable, Equatable {
    package let gate: SessionGate
    /// The one that it began.
    package let generation: Int64
    package let why: SessionEnding
    package let at: Date
    /// How many rows say so.
    package var ended: Int64

    package init(gate: SessionGate, generation: Int64, why: SessionEnding, at: Date, ended: Int64) {
        (self.gate, self.generation, self.why, self.at, self.ended) = (gate, generation, why, at, ended)
    }
}
