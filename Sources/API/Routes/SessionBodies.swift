import Domain
import Encoding
import Foundation
import NIOCore
import Operations

/// Bodies that routes and fast path share. Only a provider's own values may need escaping in JSON.
extension ByteBuffer {
    /// Writes a session as in `GET /sessions/current`.
    mutating func writeSession(_ session: Session, on connection: ClientConnection, policy: SessionPolicy) {
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
        writeIdentifier(connection.id)
        writeStaticString("\",\"device_attestation\":\"")
        writeString(connection.attestation.rawValue)
        writeStaticString("\"}")
    }

    /// Writes a nonce as in `POST /nonces`.
    mutating func writeNonce(_ nonce: String, expiresAt: Date) {
        writeStaticString("{\"nonce\":\"")
        writeString(nonce)
        writeStaticString("\",\"expires_at\":\"")
        writeString(expiresAt.rfc3339)
        writeStaticString("\"}")
    }

    /// Writes an authenticated session as introspection returns it (RFC 7662 §2.2).
    mutating func writeIntrospection(_ found: Service.Introspection) {
        let session = found.session
        writeStaticString("{\"active\":true,\"sub\":")
        var subject: [UInt8] = []
        JSONValue.string(session.externalID).appendJSON(to: &subject)
        writeBytes(subject)
        writeStaticString(",\"user_id\":\"")
        writeIdentifier(session.userID)
        writeStaticString("\",\"sid\":\"")
        writeIdentifier(session.id)
        writeStaticString("\",\"exp\":")
        writeString(String(Int64(saturating: found.expiresAt.timeIntervalSince1970)))
        writeStaticString(",\"iat\":")
        writeString(String(Int64(saturating: session.createdAt.timeIntervalSince1970)))
        writeStaticString(",\"client_id\":\"")
        writeIdentifier(session.applicationID)
        writeStaticString("\",\"assurance\":\"")
        writeString(found.assurance.rawValue)
        writeStaticString("\",\"device_attestation\":\"")
        writeString(found.attestation.rawValue)
        writeStaticString("\",\"cnf\":{\"x5t#S256\":\"")
        writeString(session.thumbprint.base64URL)
        writeStaticString("\"}")
        if let claims = found.verifiedClaims {
            writeStaticString(",\"verified_claims\":")
            writeString(claims.json.jsonText)
        }
        writeStaticString("}")
    }

    private mutating func writeIdentifier<Kind>(_ identifier: Identifier<Kind>) {
        writeWithUnsafeMutableBytes(minimumWritableBytes: Identifier<Kind>.textLength) { bytes in
            identifier.write(to: bytes)
            return Identifier<Kind>.textLength
        }
    }
}
