import Crypto
import Domain
import Encoding
import Foundation
import Repositories

/// Key files with several versions: one line for each version, with its number and 32 bytes in base64url. The highest
/// is the current one. Older ones are kept as long as stored data needs them.
extension KeyFiles {
    static func phoneCodes(in directory: String) throws(CommandFailure) -> PhoneCodeKeys {
        let secrets = try secrets(.phoneCodeSecrets, in: directory)
        guard let keys = PhoneCodeKeys(secrets, readAgain: { try Self.secrets(.phoneCodeSecrets, in: directory) })
        else { throw unreadable(.phoneCodeSecrets, in: directory) }
        return keys
    }

    /// The keys that protect personal data. A node that reads an unknown version from a row reloads the files.
    static func personal(in directory: String) throws(CommandFailure) -> PersonalKeys {
        PersonalKeys(try personalVersions(in: directory)) { try personalVersions(in: directory) }
    }

    private static func personalVersions(in directory: String) throws(CommandFailure) -> PersonalKeys.Versions {
        func keys(_ name: Name) throws(CommandFailure) -> [Int: SymmetricKey] {
            try secrets(name, in: directory).mapValues { SymmetricKey(data: $0.reveal()) }
        }
        let (wrapping, index) = (try keys(.wrappingSecrets), try keys(.blindIndexSecrets))
        do throws(SealingFailure) {
            return try PersonalKeys.Versions(wrapping: wrapping, index: index)
        } catch {
            throw unreadable(.wrappingSecrets, in: directory)
        }
    }

    /// The text of a new file, or a line for an existing one.
    static func line(version: Int, _ randomBytes: [UInt8]) -> String {
        "\(version) \(Base64URL.encode(randomBytes))\n"
    }

    /// The secrets of a file by version, at least one.
    static func secrets(_ name: Name, in directory: String) throws(CommandFailure) -> [Int: Secret<[UInt8]>] {
        var secrets: [Int: Secret<[UInt8]>] = [:]
        for line in try file(name, in: directory).read().split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: " ")
            guard parts.count == 2, let version = Int(parts[0]), (1...1_000_000).contains(version),
                secrets[version] == nil, let bytes = Base64URL.decode(parts[1].utf8), bytes.count == 32
            else { throw unreadable(name, in: directory) }
            secrets[version] = Secret(bytes)
        }
        guard !secrets.isEmpty else { throw unreadable(name, in: directory) }
        return secrets
    }

    /// The sentence does not propose a command that removes the file: without a wrapping key, its data is lost.
    private static func unreadable(_ name: Name, in directory: String) -> CommandFailure {
        CommandFailure(
            "\(file(name, in: directory).path) does not contain lines of a version and 32 bytes in base64url; "
                + "restore the right file from its backup.")
    }
}
