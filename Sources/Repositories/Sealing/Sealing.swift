import Crypto
import Domain
import Encoding
import Foundation
import Synchronization

/// Why sealed data or its keys cannot be used. None of these is a caller's mistake, and none says what was sealed.
package enum SealingFailure: Error, Sendable, Equatable {
    /// No key was given where at least one is needed, or a key that is not 256 bits long.
    case unusableKeys
    /// A row names a wrapping key of this version, which is not among the keys.
    case unknownVersion(Int)
    /// What is stored was not sealed under this key for this place: it was changed, moved or damaged.
    case notAuthentic
}

/// What a blind index is over; indexes of different kinds never equal each other.
package enum BlindIndexKind: String, Sendable, CaseIterable {
    /// A number in its E.164 form.
    case phoneNumber = "phone_number"
    /// An identity document: who issued it, and its number.
    case document
    /// A person as a document names one: name and date of birth.
    case person
    /// What a provider says of a user.
    case profile
    /// Whom a user asked for an authorization.
    case authorizationTarget = "authorization_target"
    /// A network address that is limited.
    case networkAddress = "network_address"
    /// The beginning of telephone numbers that blocks are rented by.
    case phonePrefix = "phone_prefix"
}

/// The keys under which personal data lies, by version; the highest version of each is the current one.
///
/// A wrapping key wraps data keys, one for each user; an index key makes blind indexes. All nodes share them. A node
/// that meets a row of a wrapping key which it does not have reads its keys again: so a rotation needs no restart.
package struct PersonalKeys: Sendable {
    /// The keys of one moment.
    package struct Versions: Sendable {
        let wrapping: [Int: SymmetricKey]
        let index: [Int: SymmetricKey]
        let currentWrapping: Int
        let currentIndex: Int
        let currentIndexKey: SymmetricKey

        /// Joins wrapping and index keys, each 256 bits, by version.
        ///
        /// - Throws: ``SealingFailure/unusableKeys`` if either is empty or a key has another length.
        package init(wrapping: [Int: SymmetricKey], index: [Int: SymmetricKey]) throws(SealingFailure) {
            guard let currentWrapping = wrapping.keys.max(), let currentIndex = index.keys.max(),
                let currentIndexKey = index[currentIndex],
                wrapping.values.allSatisfy({ $0.bitCount == 256 }), index.values.allSatisfy({ $0.bitCount == 256 })
            else { throw .unusableKeys }
            self.wrapping = wrapping
            self.index = index
            self.currentWrapping = currentWrapping
            self.currentIndex = currentIndex
            self.currentIndexKey = currentIndexKey
        }
    }

    private final class Holder: Sendable {
        let versions: Mutex<Versions>
        init(_ versions: Versions) { self.versions = Mutex(versions) }
    }

    private let holder: Holder
    private let readAgain: (@Sendable () throws -> Versions)?

    /// Holds keys that stay as they are.
    ///
    /// - Throws: ``SealingFailure/unusableKeys``.
    package init(wrapping: [Int: SymmetricKey], index: [Int: SymmetricKey]) throws(SealingFailure) {
        holder = Holder(try Versions(wrapping: wrapping, index: index))
        readAgain = nil
    }

    /// Holds keys that can be read again.
    ///
    /// - Parameter readAgain: gives the keys as they are now, such as from `Keys/`.
    package init(_ versions: Versions, readAgain: @escaping @Sendable () throws -> Versions) {
        holder = Holder(versions)
        self.readAgain = readAgain
    }

    /// Reads the keys again. Copies of this value share what was read.
    ///
    /// - Throws: what reading throws; the keys then stay as they were.
    package func reload() throws {
        guard let versions = try readAgain?() else { return }
        holder.versions.withLock { $0 = versions }
    }

    /// The version that new data keys are wrapped under.
    package var currentWrappingVersion: Int { versions.currentWrapping }

    /// A deterministic stand-in for a value that may be looked up but not read: HMAC-SHA-256 (FIPS 198-1) over kind and
    /// value, under the current index key. Without that key nobody can try all telephone numbers on it.
    ///
    /// - Parameter canonical: the one form in which equal things are equal texts.
    package func blindIndex(_ canonical: String, _ kind: BlindIndexKind) -> Digest256 {
        Self.blindIndex(canonical, kind, versions.currentIndexKey)
    }

    /// The blind indexes under every version of the key, current first: an older row is found under its own version.
    package func blindIndexes(_ canonical: String, _ kind: BlindIndexKind) -> [Digest256] {
        versions.index.sorted { $0.key > $1.key }.map { Self.blindIndex(canonical, kind, $0.value) }
    }

    /// The blind indexes under every version of the key, each with its version.
    package func versionedBlindIndexes(_ canonical: String, _ kind: BlindIndexKind) -> [(
        version: Int, index: Digest256
    )] {
        versions.index.sorted { $0.key > $1.key }.map { ($0.key, Self.blindIndex(canonical, kind, $0.value)) }
    }

    /// By which nodes see whether they have the same wrapping keys.
    package var wrappingFingerprints: [Int: Digest256] { Self.fingerprints(versions.wrapping, .wrappingKeys) }

    /// By which nodes see whether they have the same index keys.
    package var indexFingerprints: [Int: Digest256] { Self.fingerprints(versions.index, .blindIndexKeys) }

    private static func fingerprints(
        _ keys: [Int: SymmetricKey], _ item: NodeFingerprints.Item
    ) -> [Int: Digest256] {
        Dictionary(
            uniqueKeysWithValues: keys.map {
                ($0.key, NodeFingerprints.digest(of: $0.value, item, version: $0.key))
            })
    }

    /// The versions under which blind indexes can be made here.
    package var indexVersions: Set<Int> { Set(versions.index.keys) }

    /// Seals a text that belongs to no user, such as an admin's note, under the current wrapping key itself.
    ///
    /// - Throws: ``SealingFailure/unknownVersion(_:)``.
    package func seal<Kind>(
        _ text: String, in column: SealedColumn, of row: Identifier<Kind>
    ) throws -> SealedText {
        let version = currentWrappingVersion
        return SealedText(
            bytes: try DataKey(try wrappingKey(version)).seal(text, in: column, of: row), version: version)
    }

    /// Opens what ``seal(_:in:of:)`` made for the same place.
    ///
    /// - Throws: ``SealingFailure``.
    package func open<Kind>(
        _ sealed: SealedText, in column: SealedColumn, of row: Identifier<Kind>
    ) throws -> String {
        try DataKey(try wrappingKey(sealed.version)).open(sealed.bytes, in: column, of: row)
    }

    /// The wrapping key of a version, read anew if this node has none of that version yet.
    ///
    /// - Throws: ``SealingFailure/unknownVersion(_:)``.
    func wrappingKey(_ version: Int) throws -> SymmetricKey {
        if let key = versions.wrapping[version] { return key }
        try reload()
        guard let key = versions.wrapping[version] else { throw SealingFailure.unknownVersion(version) }
        return key
    }

    private var versions: Versions { holder.versions.withLock { $0 } }

    private static func blindIndex(_ canonical: String, _ kind: BlindIndexKind, _ key: SymmetricKey) -> Digest256 {
        var code = HMAC<SHA256>(key: key)
        // No kind holds a zero byte: what is hashed can be read in one way only.
        code.update(data: Data("countersign blind index\0\(kind.rawValue)\0".utf8))
        code.update(data: Data(canonical.utf8))
        let bytes = Array(code.finalize())
        return Digest256(bytes) ?? Digest256.of(bytes)
    }
}

/// A text sealed under a wrapping key itself.
package struct SealedText: Sendable {
    /// As ``DataKey/seal(_:in:of:)`` gives it.
    package let bytes: [UInt8]
    /// The version of the wrapping key.
    package let version: Int

    /// Joins the two, as read from a row.
    package init(bytes: [UInt8], version: Int) {
        self.bytes = bytes
        self.version = version
    }
}

/// One person's data key, opened: whatever is sealed under it is erased when it is.
///
/// AES-256-GCM (NIST SP 800-38D) with a random nonce; table, column and row are associated data, so that a sealed value
/// opens nowhere but in its own place.
package struct DataKey: Sendable {
    private let key: SymmetricKey

    init(_ key: SymmetricKey) {
        self.key = key
    }

    static func generate() -> DataKey {
        DataKey(SymmetricKey(size: .bits256))
    }

    /// Seals a text for a column of a row: format byte 1, nonce (12), ciphertext, tag (16).
    package func seal<Kind>(_ text: String, in column: SealedColumn, of row: Identifier<Kind>) throws -> [UInt8] {
        try seal(text, in: column, row: row.description)
    }

    func seal(_ text: String, in column: SealedColumn, row: String) throws -> [UInt8] {
        try Self.seal(Data(text.utf8), under: key, for: Self.place(column.table, column.name, row))
    }

    /// Opens what ``seal(_:in:of:)`` made for the same place.
    ///
    /// - Throws: ``SealingFailure/notAuthentic``.
    package func open<Kind>(_ sealed: [UInt8], in column: SealedColumn, of row: Identifier<Kind>) throws -> String {
        try open(sealed, in: column, row: row.description)
    }

    func open(_ sealed: [UInt8], in column: SealedColumn, row: String) throws -> String {
        let opened = try Self.open(sealed, under: key, for: Self.place(column.table, column.name, row))
        guard let text = String(bytes: opened, encoding: .utf8) else { throw SealingFailure.notAuthentic }
        return text
    }

    /// The key itself, sealed under a wrapping key for one user and one version of that key.
    func wrapped(under wrappingKey: SymmetricKey, version: Int, row: String) throws -> [UInt8] {
        try Self.seal(
            key.withUnsafeBytes { Data($0) }, under: wrappingKey, for: Self.place("data_keys", "\(version)", row))
    }

    /// Opens a wrapped key.
    ///
    /// - Throws: ``SealingFailure/notAuthentic``.
    init(wrapped: [UInt8], under wrappingKey: SymmetricKey, version: Int, row: String) throws {
        let bytes = try Self.open(wrapped, under: wrappingKey, for: Self.place("data_keys", "\(version)", row))
        guard bytes.count == 32 else { throw SealingFailure.notAuthentic }
        key = SymmetricKey(data: bytes)
    }

    private static func seal(_ bytes: Data, under key: SymmetricKey, for place: Data) throws -> [UInt8] {
        let box = try AES.GCM.seal(bytes, using: key, authenticating: place)
        return [1] + Array(box.nonce) + box.ciphertext + box.tag
    }

    private static func open(_ sealed: [UInt8], under key: SymmetricKey, for place: Data) throws -> Data {
        guard sealed.count >= 29, sealed[0] == 1, let box = try? AES.GCM.SealedBox(combined: sealed[1...]),
            let bytes = try? AES.GCM.open(box, using: key, authenticating: place)
        else { throw SealingFailure.notAuthentic }
        return bytes
    }

    /// Each part behind its length: two places never have the same associated data.
    private static func place(_ parts: String...) -> Data {
        var data = Data("countersign sealed".utf8)
        for part in parts {
            withUnsafeBytes(of: UInt32(part.utf8.count).bigEndian) { data.append(contentsOf: $0) }
            data.append(contentsOf: part.utf8)
        }
        return data
    }
}

extension DataKey: CustomStringConvertible, CustomReflectable {
    /// Always `••••`.
    package var description: String { "••••" }
    /// A mirror without children, so that `dump` shows nothing.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
