import Encoding

extension CardSpecimen {
    /// The text of a credential that nobody signed: CBOR-LD of an unknown compression table, and a signature of zeros.
    package static let unverifiedCredential = Base64URL.encode(
        CBORValue.tagged(
            CBORTag(
                0xCB1D,
                .array([
                    .unsigned(99), .map([1: .array([.unsigned(1)]), 2: .bytes([UInt8](repeating: 0, count: 64)[...])]),
                ])
            )
        ).encoded)
}
