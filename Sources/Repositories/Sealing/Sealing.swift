import Crypto
import Domain
import Encoding
import Foundation
import Synchronization

/// Why sealed data or its keys cannot be used. No caller causes these errors, and none contains sealed data.
package enum SealingFailure: Error, Sendable, Equatable {
    /// There is no key, or a key does not have 256 bits.
    case unusableKeys
    /// A row needs a wrapping key of this version, which is missing.
    case unknownVersion(Int)
    /// The stored data was not sealed under this key for this place: it was changed, moved or damaged.
    case notAuthentic
}

/// The keys that protect personal data, by version; the highest version of each is the current one.
///
/// A wrapping key wraps data keys, one for each user. An index key makes blind indexes. All nodes share them. A node
/// that reads an unknown wrapping key's version from a row reloads its keys, so a rotation needs no restart.
package struct PersonalKeys: Sendable {
    private final class Holder: Sendable {
        let versions: Mutex<Versions>
        init(_ versions: Versions) { self.versions = Mutex(versions) }
    }

    private let holder: Holder
    private let readAgain: (@Sendable () throws -> Versions)?

    func blindIndex(_ canonical: String, of kind: String) -> Digest256 {
        Self.blindIndex(canonical, kind, versions.currentIndexKey)
    }

    func versioned(_ canonical: String, of kind: String) -> [(version: Int, index: Digest256)] {
        versions.index.sorted { $0.key > $1.key }.map { ($0.key, Self.blindIndex(canonical, kind, $0.value)) }
    }

    /// Seals a text that belongs to no user, such as an admin's note, under the current wrapping key itself.
    ///
    /// - Throws: ``SealingFailure/unknownVersion(_:)``.
    func seal<Kind>(
        _ text: String, in column: SealedColumn, of row: Identifier<Kind>
    ) throws -> SealedText {
        let version = currentWrappingVersion
        return SealedText(
            bytes: try DataKey(try wrappingKey(version)).seal(text, in: column, of: row), version: version)
    }

    /// Opens a text that ``seal(_:in:of:)`` sealed for the same place.
    ///
    /// - Throws: ``SealingFailure``.
    func open<Kind>(
        _ sealed: SealedText, in column: SealedColumn, of row: Identifier<Kind>
    ) throws -> String {
        try DataKey(try wrappingKey(sealed.version)).open(sealed.bytes, in: column, of: row)
    }

    /// The wrapping key of a version, reloaded if this node does not have that version yet.
    ///
    /// - Throws: ``SealingFailure/unknownVersion(_:)``.
    func wrappingKey(_ version: Int) throws -> SymmetricKey {
        if let key = versions.wrapping[version] { return key }
        try reload()
        guard let key = versions.wrapping[version] else { throw SealingFailure.unknownVersion(version) }
        return key
    }
}

package extension PersonalKeys {
    /// The kind of a blind index's value; indexes of different kinds never equal each other.
    enum BlindIndexKind: String, Sendable, CaseIterable {
        /// An identity document: its issuer and number.
        case document
        /// A person on a document: name and date of birth.
        case person
        /// A user's profile from the provider.
        case profile
        /// The recipient of a request for an authorization.
        case authorizationTarget = "authorization_target"
        /// A network address, as limits use it.
        case networkAddress = "network_address"
        /// The prefix of a block of telephone numbers.
        case phonePrefix = "phone_prefix"
        /// A value in the metadata of a stream.
        case streamMetadata = "stream_metadata"
        /// A credential in a wallet, which proves ages.
        case ageCredential = "age_credential"
        /// The seeds of contact discovery's keys.
        case discovery
    }

    /// The keys at one time.
    struct Versions: Sendable {
        let wrapping: [Int: SymmetricKey]
        let index: [Int: SymmetricKey]
        let currentWrapping: Int
        let currentIndex: Int
        let currentIndexKey: SymmetricKey

        /// Takes wrapping and index keys, each 256 bits, by version.
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

    /// Takes keys that never change.
    ///
    /// - Throws: ``SealingFailure/unusableKeys``.
    init(wrapping: [Int: SymmetricKey], index: [Int: SymmetricKey]) throws(SealingFailure) {
        holder = Holder(try Versions(wrapping: wrapping, index: index))
        readAgain = nil
    }

    /// Takes keys that can be reloaded.
    ///
    /// - Parameter readAgain: returns the current keys, such as from `Keys/`.
    init(_ versions: Versions, readAgain: @escaping @Sendable () throws -> Versions) {
        holder = Holder(versions)
        self.readAgain = readAgain
    }

    /// Reloads the keys. Copies of this value share the result.
    ///
    /// - Throws: what reading throws; the keys then stay unchanged.
    func reload() throws {
        guard let versions = try readAgain?() else { return }
        holder.versions.withLock { $0 = versions }
    }

    /// The version that new data keys are wrapped under.
    var currentWrappingVersion: Int { versions.currentWrapping }

    /// A deterministic digest for a value that may be searched for but not read: HMAC-SHA-256 (FIPS 198-1) over kind
    /// and value, under the current index key. Without that key, values such as telephone numbers cannot be found by
    /// trial.
    ///
    /// - Parameter canonical: the canonical form, in which equal values have equal texts.
    func blindIndex(_ canonical: String, _ kind: BlindIndexKind) -> Digest256 {
        blindIndex(canonical, of: kind.rawValue)
    }

    /// The blind indexes under every version of the key, current first, because older rows have older versions.
    func blindIndexes(_ canonical: String, _ kind: BlindIndexKind) -> [Digest256] {
        versioned(canonical, of: kind.rawValue).map(\.index)
    }

    /// The blind indexes under every version of the key, each with its version.
    func versionedBlindIndexes(_ canonical: String, _ kind: BlindIndexKind) -> [(
        version: Int, index: Digest256
    )] {
        versioned(canonical, of: kind.rawValue)
    }

    /// Digests by which nodes compare their wrapping keys.
    var wrappingFingerprints: [Int: Digest256] { Self.fingerprints(versions.wrapping, .wrappingKeys) }

    /// Digests by which nodes compare their index keys.
    var indexFingerprints: [Int: Digest256] { Self.fingerprints(versions.index, .blindIndexKeys) }

    private static func fingerprints(
        _ keys: [Int: SymmetricKey], _ item: NodeFingerprints.Item
    ) -> [Int: Digest256] {
        Dictionary(
            uniqueKeysWithValues: keys.map {
                ($0.key, NodeFingerprints.digest(of: $0.value, item, version: $0.key))
            })
    }

    /// The versions of the index keys.
    var indexVersions: Set<Int> { Set(versions.index.keys) }

    private var versions: Versions { holder.versions.withLock { $0 } }

    private static func blindIndex(_ canonical: String, _ kind: String, _ key: SymmetricKey) -> Digest256 {
        var code = HMAC<SHA256>(key: key)
        // No kind contains a zero byte, so the hashed bytes are unambiguous.
        code.update(data: Data("countersign blind index\0\(kind)\0".utf8))
        code.update(data: Data(canonical.utf8))
        let bytes = Array(code.finalize())
        return Digest256(bytes) ?? Digest256.of(bytes)
    }
}

/// A text sealed under a wrapping key itself.
struct SealedText: Sendable {
    let bytes: [UInt8]
    /// The version of the wrapping key.
    let version: Int
}

/// The opened data key of one user, or of one stream of messages. After its erasure, everything sealed under it is unreadable.
///
/// AES-256-GCM (NIST SP 800-38D) with a random nonce. Table, column and row are associated data, so a sealed value
/// opens only in its own place.
package struct DataKey: Sendable, CustomStringConvertible, CustomReflectable {
    private let key: SymmetricKey

    init(_ key: SymmetricKey) {
        self.key = key
    }

    static func generate() -> DataKey {
        DataKey(SymmetricKey(size: .bits256))
    }

    func seal(_ text: String, in column: SealedColumn, row: String) throws -> [UInt8] {
        try Self.seal(Data(text.utf8), under: key, for: Self.place(column.table, column.name, row))
    }

    func open(_ sealed: [UInt8], in column: SealedColumn, row: String) throws -> String {
        let opened = try Self.open(sealed, under: key, for: Self.place(column.table, column.name, row))
        guard let text = String(bytes: opened, encoding: .utf8) else { throw SealingFailure.notAuthentic }
        return text
    }

    /// The key itself, sealed under a wrapping key for one row of a table and one version.
    func wrapped(
        under wrappingKey: SymmetricKey, version: Int, row: String, of table: String = "data_keys"
    ) throws -> [UInt8] {
        try Self.seal(
            key.withUnsafeBytes { Data($0) }, under: wrappingKey, for: Self.place(table, "\(version)", row))
    }

    /// Opens a wrapped key.
    ///
    /// - Throws: ``SealingFailure/notAuthentic``.
    init(
        wrapped: [UInt8], under wrappingKey: SymmetricKey, version: Int, row: String, of table: String = "data_keys"
    ) throws {
        let bytes = try Self.open(wrapped, under: wrappingKey, for: Self.place(table, "\(version)", row))
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

    /// Each part is preceded by its length, so that two places never have the same associated data.
    private static func place(_ parts: String...) -> Data {
        var data = Data("countersign sealed".utf8)
        for part in parts {
            withUnsafeBytes(of: UInt32(part.utf8.count).bigEndian) { data.append(contentsOf: $0) }
            data.append(contentsOf: part.utf8)
        }
        return data
    }
}

package extension DataKey {
    /// Seals a text for a column of a row: format byte 1, nonce (12), ciphertext, tag (16).
    func seal<Kind>(_ text: String, in column: SealedColumn, of row: Identifier<Kind>) throws -> [UInt8] {
        try seal(text, in: column, row: row.description)
    }

    /// Opens a text that ``seal(_:in:of:)`` sealed for the same place.
    ///
    /// - Throws: ``SealingFailure/notAuthentic``.
    func open<Kind>(_ sealed: [UInt8], in column: SealedColumn, of row: Identifier<Kind>) throws -> String {
        try open(sealed, in: column, row: row.description)
    }

    /// Shows `••••` instead of the key.
    var description: String { "••••" }
    /// A mirror without children, so that `dump` shows nothing.
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
