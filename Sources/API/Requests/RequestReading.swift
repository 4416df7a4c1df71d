import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The members of a request's JSON object. Each is read once; members that remain are unknown and refused.
struct JSONBodyDecoder {
    private var rest: [JSONMember]
    /// The path of the object in the body, such as `attestation.`; empty for the body itself.
    private var path = ""

    /// Parses a body.
    ///
    /// - Throws: `Refusal` `malformed_request` if the body is not a JSON object, with the path of the defect.
    init(_ bytes: [UInt8]) throws(Refusal) {
        let value: JSONValue
        do throws(JSONDefect) {
            value = try StrictJSON.parse(bytes)
        } catch {
            throw Refusal.notJSON(error)
        }
        guard case .object(let members) = value else { throw Refusal.bodyNotObject }
        rest = members
    }

    /// A required member; `null` is refused.
    mutating func string(_ name: String) throws(Refusal) -> String {
        guard let text = try optionalString(name) else { throw Refusal.memberMissing(path + name) }
        return text
    }

    /// An optional member, which may also be `null`.
    mutating func optionalString(_ name: String) throws(Refusal) -> String? {
        switch try take(name) {
        case nil, .null: return nil
        case .string(let text): return text
        default: throw Refusal.memberMustBe("a string", path + name)
        }
    }

    /// A required member, which may be `null`.
    mutating func nullableString(_ name: String) throws(Refusal) -> String? {
        switch try value(name) {
        case .null: return nil
        case .string(let text): return text
        default: throw Refusal.memberMustBe("a string or null", path + name)
        }
    }

    mutating func value(_ name: String) throws(Refusal) -> JSONValue {
        guard let value = try take(name) else { throw Refusal.memberMissing(path + name) }
        return value
    }

    /// The members of an optional member that is an object. Reject its unknown ones too.
    mutating func optionalObject(_ name: String) throws(Refusal) -> JSONBodyDecoder? {
        switch try take(name) {
        case nil, .null: return nil
        case .object(let members):
            var decoder = JSONBodyDecoder(members)
            decoder.path = "\(path)\(name)."
            return decoder
        default: throw Refusal.memberMustBe("an object", path + name)
        }
    }

    private init(_ members: [JSONMember]) { rest = members }

    mutating func optionalValue(_ name: String) throws(Refusal) -> JSONValue? { try take(name) }

    /// A member, without marking it as read.
    func peek(_ name: String) -> JSONValue? { rest.first { $0.name.hasSameBytes(as: name) }?.value }

    func rejectUnknown() throws(Refusal) {
        if let unknown = rest.first {
            throw Refusal.memberUnknown(path + unknown.name.prefix(64))
        }
    }

    private mutating func take(_ name: String) throws(Refusal) -> JSONValue? {
        guard let index = rest.firstIndex(where: { $0.name.hasSameBytes(as: name) }) else { return nil }
        let value = rest.remove(at: index).value
        // No database stores U+0000 in a text, and no member needs it.
        if let place = value.placeOfNull { throw Refusal.memberWithNull(path + name + place) }
        return value
    }
}

extension JSONValue {
    /// The path of the first text or name with U+0000 in a value, from the value on; `nil` if there is none.
    fileprivate var placeOfNull: String? {
        switch self {
        case .string(let text): return text.utf8.contains(0) ? "" : nil
        case .object(let members):
            for member in members {
                if member.name.utf8.contains(0) { return "" }
                if let place = member.value.placeOfNull { return ".\(member.name.prefix(64))\(place)" }
            }
        case .array(let values):
            for (index, value) in values.enumerated() {
                if let place = value.placeOfNull { return "[\(index)]\(place)" }
            }
        case .null, .bool, .integer, .number: break
        }
        return nil
    }
}

extension Request {
    /// Whether the body may have more than some bytes: it declares more, or is chunked and declares none.
    func mayExceed(_ bytes: Int) -> Bool {
        headers.contains(.transferEncoding) || headers.declaredLength ?? 0 > bytes
    }

    /// The request with a body of at most `maximum` bytes. A declared length is checked first. A chunked body (RFC 9112
    /// §7.1), or one of HTTP/2 without a declared length, is read now, even if no handler reads it.
    ///
    /// If the client waits for permission to send its body (`Expect: 100-continue`, RFC 9110 §10.1.1), the first read
    /// gives it. A request that is refused earlier never gets it.
    ///
    /// - Throws: `Refusal` `payload_too_large`; ``HTTPDefect``, or ``ClientGone`` if the body is incomplete.
    ///
    /// Memory for a body over ``ResponseAccounts/unclaimedBody`` is claimed like memory for a large response, before it
    /// arrives or once more than that has arrived.
    ///
    /// - Parameter carrier: what claims; `nil` if the route claims its body.
    func bounded(to maximum: Int, on channel: any Channel, by carrier: ResponseCarrier?) async throws -> Request {
        let length = headers.declaredLength
        if let length, length > maximum { throw Refusal.bodyLarger(than: maximum) }
        let isUndeclared = length == nil && (headers.contains(.transferEncoding) || carrier?.isUndeclared == true)
        let isAwaited = headers.waitsForPermission
        // Only permission lets an awaited body arrive, so its size is not waited for here.
        let claimed = length ?? (isUndeclared && isAwaited ? maximum : 0)
        if claimed > ResponseAccounts.unclaimedBody { try await carrier?.hold(claimed) }
        var request = self
        if isAwaited {
            request.body = RequestBody(asyncSequence: AwaitedBody(base: body, channel: channel))
        } else if isUndeclared {
            request.body = RequestBody(buffer: try await collected(upTo: maximum, by: carrier))
        }
        return request
    }

    /// Collects a body of unknown length. Its largest size is claimed once it is not small.
    private func collected(upTo maximum: Int, by carrier: ResponseCarrier?) async throws -> ByteBuffer {
        var (buffer, isClaimed) = (ByteBuffer(), false)
        do {
            for try await part in body {
                let size = buffer.readableBytes + part.readableBytes
                guard size <= maximum else { throw Refusal.bodyLarger(than: maximum) }
                if size > ResponseAccounts.unclaimedBody, !isClaimed {
                    try await carrier?.hold(maximum)
                    isClaimed = true
                }
                buffer.writeImmutableBuffer(part)
            }
            return buffer
        } catch let error as Refusal {
            throw error
        } catch let defect as HTTPDefect {
            throw defect
        } catch {
            throw ClientGone()
        }
    }

    /// The bytes of the body, at most `maximum`.
    func bytes(upTo maximum: Int) async throws -> [UInt8] {
        var buffer = try await collected(upTo: maximum)
        return buffer.readBytes(length: buffer.readableBytes) ?? []
    }

    /// Collects the body. An incomplete body is the client's error, or a missed deadline.
    private func collected(upTo maximum: Int) async throws -> ByteBuffer {
        do {
            return try await body.collect(upTo: maximum)
        } catch is NIOTooManyBytesError {
            throw Refusal.bodyLarger(than: maximum)
        } catch let defect as HTTPDefect {
            throw defect
        } catch {
            throw ClientGone()
        }
    }

    func members(upTo maximum: Int) async throws -> JSONBodyDecoder {
        try requireMediaType("application/json")
        return try JSONBodyDecoder(try await bytes(upTo: maximum))
    }

    /// The members of a body that may be larger than those of other calls. Memory for it is claimed like memory for a
    /// large response, so a connection and a user have few large bodies at the same time.
    ///
    /// - Parameter usual: the largest body of other calls, bytes, for which nothing is claimed.
    func members(
        upTo maximum: Int, reservedAbove usual: Int, by carrier: ResponseCarrier
    ) async throws -> JSONBodyDecoder {
        try requireMediaType("application/json")
        let bound = max(maximum, usual)
        // Without a declared length the body has arrived, and is claimed.
        let length = headers.declaredLength ?? 0
        if length > usual { try await carrier.reserve(upTo: length) }
        return try JSONBodyDecoder(try await bytes(upTo: bound))
    }

    func members(_ bytes: [UInt8]) throws(Refusal) -> JSONBodyDecoder {
        try requireMediaType("application/json")
        return try JSONBodyDecoder(bytes)
    }

    /// A body that is a Security Event Token (RFC 8935 §2.1).
    func securityEventToken(upTo maximum: Int) async throws -> String {
        try requireMediaType("application/secevent+jwt")
        guard let token = String(bytes: try await bytes(upTo: maximum), encoding: .utf8) else {
            throw Refusal.noSecurityEventToken
        }
        return token
    }

    /// The token of `Authorization: Bearer …` (RFC 6750 §2.1), after one or more spaces (RFC 9110 §11.4).
    var bearer: String? {
        headers.text(of: .authorization).flatMap { AuthorizationHeader.bearer($0) }
    }

    var hasForm: Bool { mediaType == FormBody.mediaType }

    private var mediaType: String? {
        headers.text(of: .contentType)?.split(separator: ";").first?.trimmingSuffix(while: \.isWhitespace).lowercased()
    }

    func requireMediaType(_ wanted: String) throws(Refusal) {
        // Most clients write it so. The other forms are compared character by character.
        if headers.text(of: .contentType)?.hasSameBytes(as: wanted) == true { return }
        guard mediaType == wanted else {
            throw headers.contains(.contentType)
                ? Refusal.wrongMediaType(wanted: wanted) : Refusal.noMediaType(wanted: wanted)
        }
    }
}

extension Substring {
    fileprivate func trimmingSuffix(while fits: (Character) -> Bool) -> Substring {
        var text = self
        while let last = text.last, fits(last) { text.removeLast() }
        return text
    }
}

/// A body that the client sends only after permission, which the first read gives.
private struct AwaitedBody: AsyncSequence, Sendable {
    let base: RequestBody
    let channel: any Channel

    func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator(), channel: channel) }

    struct Iterator: AsyncIteratorProtocol {
        var base: RequestBody.AsyncIterator
        var channel: (any Channel)?

        mutating func next() async throws -> ByteBuffer? {
            if let channel {
                self.channel = nil
                channel.pipeline.triggerUserOutboundEvent(RequestBoundsHandler.BodyWanted(), promise: nil)
            }
            return try await base.next()
        }
    }
}
