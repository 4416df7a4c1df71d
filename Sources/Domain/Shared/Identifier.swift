import Foundation

/// A UUID (RFC 9562) of one kind of object. The type `Kind` prevents the use of a user's id as a device's.
///
/// Written in lower case with hyphens, parsed in either case.
package struct Identifier<Kind>: Hashable, Sendable {
    package let uuid: UUID
}

package extension Identifier {
    /// - Parameter uuid: an id of this kind.
    init(_ uuid: UUID) {
        self.uuid = uuid
    }

    /// Parses the 36-character form; `nil` for anything else.
    init?(_ text: some StringProtocol) {
        var text = String(text)
        guard let uuid = text.withUTF8(Self.read) else { return nil }
        self.uuid = uuid
    }

    /// Parses 36 characters. Every request has several, and Foundation takes a microsecond for each (Upstream.md).
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

    /// The 36-character lower-case form, RFC 9562 §4.
    var description: String {
        String(unsafeUninitializedCapacity: Self.textLength) { buffer in
            write(to: UnsafeMutableRawBufferPointer(buffer))
            return Self.textLength
        }
    }

    /// The number of bytes of ``description``.
    static var textLength: Int { 36 }

    /// Writes ``description`` to the beginning of a buffer of at least ``textLength`` bytes.
    func write(to buffer: UnsafeMutableRawBufferPointer) {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10 }
        withUnsafeBytes(of: uuid.uuid) { bytes in
            // Without optimisation, a loop over a range or a sequence takes most of the time of each id.
            var (index, position) = (0, 0)
            while index < bytes.count {
                let byte = bytes[index]
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    buffer[position] = UInt8(ascii: "-")
                    position += 1
                }
                buffer[position] = digit(byte >> 4)
                buffer[position + 1] = digit(byte & 15)
                position += 2
                index += 1
            }
        }
    }
}

extension Identifier: CustomStringConvertible, LosslessStringConvertible {
    /// Parses the 36-character form; `nil` for anything else.
    package init?(_ description: String) {
        var text = description
        guard let uuid = text.withUTF8(Self.read) else { return nil }
        self.uuid = uuid
    }
}

/// The kinds of object that an ``Identifier`` can name.
package enum Kind {}

package extension Kind {
    /// A user of one provider.
    enum User: Sendable {}
    /// A device; it chose the id when it requested its certificate.
    enum Device: Sendable {}
    /// A backend that signs identity tokens.
    enum Provider: Sendable {}
    /// An app that belongs to a provider.
    enum Application: Sendable {}
    enum ProviderKey: Sendable {}
    /// A session of a user on a device.
    enum Session: Sendable {}
    /// One recorded attempt to sign in.
    enum SignInAttempt: Sendable {}
    /// One TLS connection; the server chose the id.
    enum Connection: Sendable {}
    /// One proof of a phone number, from the first text to the right code.
    enum PhoneVerification: Sendable {}
    /// One message that waits to be sent.
    enum OutboxMessage: Sendable {}
    /// A stream of security events to one receiver of a provider.
    enum EventStream: Sendable {}
    /// One identity card as it was shown.
    enum IdentityCard: Sendable {}
    /// One request to a user's wallet.
    enum Presentation: Sendable {}
    /// One user's request to message another.
    enum Authorization: Sendable {}
    enum Ban: Sendable {}
    /// A person who administers the service.
    enum Administrator: Sendable {}
    /// An act that waits for a second administrator.
    enum WaitingAct: Sendable {}
    /// A process that serves a store.
    enum Node: Sendable {}
    /// A stream of messages between users.
    enum MessageStream: Sendable {}
    /// One message within a stream of messages.
    enum Message: Sendable {}
}

/// Names a user of one provider.
package typealias UserID = Identifier<Kind.User>
/// Names a device: the common name of its certificate.
package typealias DeviceID = Identifier<Kind.Device>
/// Names a provider: the `iss` of its tokens.
package typealias ProviderID = Identifier<Kind.Provider>
/// Names an app of a provider: the `app_id` of a session request.
package typealias ApplicationID = Identifier<Kind.Application>
/// Names a provider's key: the `kid` of its tokens.
package typealias ProviderKeyID = Identifier<Kind.ProviderKey>
/// Names a session in public, and does not give access to it.
package typealias SessionID = Identifier<Kind.Session>
/// Names one recorded attempt to sign in.
package typealias SignInAttemptID = Identifier<Kind.SignInAttempt>
package typealias ConnectionID = Identifier<Kind.Connection>
/// Names one proof of a phone number, only to the device that started it.
package typealias PhoneVerificationID = Identifier<Kind.PhoneVerification>
/// Names one message that waits to be sent.
package typealias OutboxMessageID = Identifier<Kind.OutboxMessage>
/// Names a stream of security events, to its receiver.
package typealias EventStreamID = Identifier<Kind.EventStream>
/// Names one identity card as it was shown, to its holder and to reviewers.
package typealias IdentityCardID = Identifier<Kind.IdentityCard>
/// Names one request to a wallet.
package typealias PresentationID = Identifier<Kind.Presentation>
/// Names one user's request to message another; made by the requester's app.
package typealias AuthorizationID = Identifier<Kind.Authorization>
/// Names one ban, to admins.
package typealias BanID = Identifier<Kind.Ban>
/// Names an administrator in the store and in the audit log.
package typealias AdministratorID = Identifier<Kind.Administrator>
/// Names an act that waits for a second administrator.
package typealias WaitingActID = Identifier<Kind.WaitingAct>
/// Names a process that serves a store, from its start to its end.
package typealias NodeID = Identifier<Kind.Node>
/// Names a stream of messages; made by the app of the user who opened it.
package typealias MessageStreamID = Identifier<Kind.MessageStream>
/// Names one message within its stream; made by the sender's app.
package typealias MessageID = Identifier<Kind.Message>
