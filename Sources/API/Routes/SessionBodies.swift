import Domain
import Encoding
import Foundation
import NIOCore

/// The bodies that the routes and the fast path write alike. No value in them needs escaping in JSON.
extension ByteBuffer {
    /// A session as `GET /sessions/current` says it.
    mutating func writeSession(_ session: Session, on connection: ConnectionID, policy: SessionPolicy) {
        writeStaticString("{\"session_id\":\"")
        writeIdentifier(session.id)
        writeStaticString("\",\"state\":\"")
        writeString(session.state.rawValue)
        writeStaticString("\",\"user_id\":\"")
        writeIdentifier(session.userID)
        writeStaticString("\",\"app_id\":\"")
        writeIdentifier(session.applicationID)
        writeStaticString("\",\"device_id\":\"")
        writeIdentifier(session.deviceID)
        writeStaticString("\",\"expires_at\":\"")
        writeString(session.expiry(policy: policy).rfc3339)
        writeStaticString("\",\"idle_ttl\":")
        writeString(String(Int64(policy.idleLifetime)))
        writeStaticString(",\"connection_id\":\"")
        writeIdentifier(connection)
        writeStaticString("\"}")
    }

    /// A nonce as `POST /nonces` says it.
    mutating func writeNonce(_ nonce: String, expiresAt: Date) {
        writeStaticString("{\"nonce\":\"")
        writeString(nonce)
        writeStaticString("\",\"expires_at\":\"")
        writeString(expiresAt.rfc3339)
        writeStaticString("\"}")
    }

    private mutating func writeIdentifier<Kind>(_ identifier: Identifier<Kind>) {
        writeWithUnsafeMutableBytes(minimumWritableBytes: Identifier<Kind>.textLength) { bytes in
            identifier.write(to: bytes)
            return Identifier<Kind>.textLength
        }
    }
}
