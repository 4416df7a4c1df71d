import Encoding
import Foundation

/// That a generation rose, and ended all sessions of earlier ones, whose rows are still to say so.
package struct BulkRevocation: Sendable, Equatable {
    package let scope: RevocationScope
    /// The one that it began.
    package let generation: Int64
    package let why: SessionEnding
    package let at: Date
    /// How many rows say so.
    package var ended: Int64

    package init(scope: RevocationScope, generation: Int64, why: SessionEnding, at: Date, ended: Int64) {
        (self.scope, self.generation, self.why, self.at, self.ended) = (scope, generation, why, at, ended)
    }
}
