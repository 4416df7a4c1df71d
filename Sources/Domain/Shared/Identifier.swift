import Foundation

/// A UUID (RFC 9562) that names one kind of thing; `Kind` keeps a user's id from being taken for a device's.
///
/// Written in lower case with hyphens, read in either case.
public struct Identifier<Kind>: Hashable, Sendable {
    /// The 128 bits.
    public let uuid: UUID

    /// Wraps a UUID that is known to name this kind of thing.
    public init(_ uuid: UUID) {
        self.uuid = uuid
    }

    /// Reads the 36-character form; `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        var text = String(text)
        guard let uuid = text.withUTF8(Self.read) else { return nil }
        self.uuid = uuid
    }

    /// Reads 36 characters; by hand, since every request brings several and Foundation takes a microsecond for one.
    private static func read(_ text: UnsafeBufferPointer<UInt8>) -> UUID? {
        guard text.count == 36 else { return nil }
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        let isValid = withUnsafeMutableBytes(of: &bytes) { bytes in
            var digits = 0
            for index in 0..<36 {
                let digit: UInt8
                switch text[index] {
                case let character where character >= UInt8(ascii: "0") && character <= UInt8(ascii: "9"):
                    digit = character - UInt8(ascii: "0")
                case let character where character | 0x20 >= UInt8(ascii: "a") && character | 0x20 <= UInt8(ascii: "f"):
                    digit = (character | 0x20) - UInt8(ascii: "a") + 10
                case UInt8(ascii: "-") where index == 8 || index == 13 || index == 18 || index == 23: continue
                default: return false
                }
                guard digits < 32 else { return false }
                bytes[digits / 2] = bytes[digits / 2] << 4 | digit
                digits += 1
            }
            return digits == 32
        }
        return isValid ? UUID(uuid: bytes) : nil
    }
}

extension Identifier: CustomStringConvertible, LosslessStringConvertible {
    /// The 36-character lower-case form, RFC 9562 §4.
    public var description: String {
        let digits = Array("0123456789abcdef".utf8)
        return withUnsafeBytes(of: uuid.uuid) { bytes in
            String(unsafeUninitializedCapacity: 36) { buffer in
                var position = 0
                for (index, byte) in bytes.enumerated() {
                    if index == 4 || index == 6 || index == 8 || index == 10 {
                        buffer[position] = UInt8(ascii: "-")
                        position += 1
                    }
                    buffer[position] = digits[Int(byte >> 4)]
                    buffer[position + 1] = digits[Int(byte & 15)]
                    position += 2
                }
                return 36
            }
        }
    }

    /// Reads the 36-character form; `nil` for anything else.
    public init?(_ description: String) {
        var text = description
        guard let uuid = text.withUTF8(Self.read) else { return nil }
        self.uuid = uuid
    }
}

/// The kinds of thing that an ``Identifier`` names.
public enum Kind {
    /// A user of one provider.
    public enum User: Sendable {}
    /// A device, named by itself when it asked for its certificate.
    public enum Device: Sendable {}
    /// A backend that signs identity tokens.
    public enum Provider: Sendable {}
    /// An app of a provider.
    public enum Application: Sendable {}
    /// A provider's public key.
    public enum ProviderKey: Sendable {}
    /// A session of a user on a device.
    public enum Session: Sendable {}
    /// One TLS connection, named by the server.
    public enum Connection: Sendable {}
    /// One proof of a phone number, from the first text to the right code.
    public enum PhoneVerification: Sendable {}
    /// One message that waits to be sent.
    public enum OutboxMessage: Sendable {}
    /// One identity card as it was shown.
    public enum IdentityCard: Sendable {}
    /// One user's wish to message another.
    public enum Authorization: Sendable {}
    /// One ban.
    public enum Ban: Sendable {}
    /// A process that serves a store.
    public enum Node: Sendable {}
}

/// Names a user of one provider.
public typealias UserID = Identifier<Kind.User>
/// Names a device: the common name of its certificate.
public typealias DeviceID = Identifier<Kind.Device>
/// Names a provider: the `iss` of its tokens.
public typealias ProviderID = Identifier<Kind.Provider>
/// Names an app of a provider: the `app_id` of a session request.
public typealias ApplicationID = Identifier<Kind.Application>
/// Names a provider's key: the `kid` of its tokens.
public typealias ProviderKeyID = Identifier<Kind.ProviderKey>
/// Names a session, publicly: it opens nothing.
public typealias SessionID = Identifier<Kind.Session>
/// Names one TLS connection.
public typealias ConnectionID = Identifier<Kind.Connection>
/// Names one proof of a phone number, to the device that asked for it alone.
public typealias PhoneVerificationID = Identifier<Kind.PhoneVerification>
/// Names one message that waits to be sent.
public typealias OutboxMessageID = Identifier<Kind.OutboxMessage>
/// Names one identity card as it was shown, to its holder and to reviewers.
public typealias IdentityCardID = Identifier<Kind.IdentityCard>
/// Names one user's wish to message another; made by the asking app.
public typealias AuthorizationID = Identifier<Kind.Authorization>
/// Names one ban, to admins.
public typealias BanID = Identifier<Kind.Ban>
/// Names a process that serves a store, from its start to its end.
public typealias NodeID = Identifier<Kind.Node>
