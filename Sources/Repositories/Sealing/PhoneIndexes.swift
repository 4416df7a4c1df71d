import Encoding
import PhoneNumbers

/// The blind indexes of numbers. All spellings of a line's number have the same index.
/// ``PersonalKeys/BlindIndexKind`` has no case for numbers, so no caller can index a number as it is written.
package extension PersonalKeys {
    /// The blind indexes of a number under every version of the key, current first.
    func phoneIndexes(_ e164: String) -> [Digest256] { versionedPhoneIndexes(e164).map(\.index) }

    /// The blind indexes of a number under every version of the key, each with its version.
    func versionedPhoneIndexes(_ e164: String) -> [(version: Int, index: Digest256)] {
        versioned(PhoneNumber.line(ofStored: e164), of: Self.phoneKind)
    }
}

extension PersonalKeys {
    private static let phoneKind = "phone_number"

    /// The blind index of a number under the current key.
    ///
    /// - Parameter e164: the number, with its `+`.
    func phoneIndex(_ e164: String) -> Digest256 {
        blindIndex(PhoneNumber.line(ofStored: e164), of: Self.phoneKind)
    }
}
