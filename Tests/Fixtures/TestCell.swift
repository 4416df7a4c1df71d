import Domain
import Encoding
import Foundation
import Operations

extension Cell {
    /// The cell of the tests: not the default, so that an identifier of another source shows.
    package static let ofTests = Cell(0xC47) ?? .first

    /// Reads the cell of an identifier; `nil` for one of another version.
    package init?(of id: UUID) {
        guard id.uuid.6 >> 4 == 8, id.uuid.8 >> 6 == 2 else { return nil }
        self.init(Int(id.uuid.6 & 0x0F) << 8 | Int(id.uuid.7))
    }
}

extension Environment {
    /// An environment in the cell of the tests.
    package init(
        now: @escaping @Sendable () -> Date = { Date() },
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = Environment.systemBytes
    ) {
        self.init(cell: .ofTests, now: now, randomBytes: randomBytes)
    }
}

extension NonceKey {
    /// A key in the cell of the tests.
    package init(_ secret: Secret<[UInt8]>, generation: String = "") {
        self.init(secret, generation: generation, in: .ofTests)
    }
}
