import Encoding
import Fixtures
import Foundation
import Testing

@testable import Domain

@Suite("A nonce")
struct NonceTests {
    private let key = NonceKey(Secret([UInt8](repeating: 7, count: 32)))
    private let device = Digest256.of("one device")
    private let expiry = Date(timeIntervalSince1970: 1_800_000_600)

    private func text() -> String {
        Nonce.issue(randomBytes: Array(0..<16), expiresAt: expiry, thumbprint: device, key: key)
    }

    @Test("comes back as it was issued, for the device it was issued to")
    func roundTrip() throws {
        let nonce = try Nonce(shown: text(), thumbprint: device, key: key)
        #expect(nonce.randomBytes == Array(0..<16))
        #expect(nonce.expiresAt == expiry)
    }

    @Test("makes the id of its row of its expiry, the cell and its bytes, as a UUID of version 8")
    func rowID() throws {
        let nonce = try Nonce(shown: text(), thumbprint: device, key: key)
        let shown = try #require(Base64URL.decode(text()))
        var digest = Digest256.of(shown).bytes
        digest[0] = digest[0] & 0x3F | 0x80
        let id = withUnsafeBytes(of: nonce.sessionID.uuid.uuid) { Array($0) }
        // 1,800,000,600,000 ms.
        #expect(id == [0x01, 0xA3, 0x18, 0x65, 0x77, 0xC0, 0x8C, 0x47] + digest[..<8])
        let other = Nonce.issue(randomBytes: Array(1..<17), expiresAt: expiry, thumbprint: device, key: key)
        #expect(try Nonce(shown: other, thumbprint: device, key: key).sessionID != nonce.sessionID)
    }

    @Test("of another device is told apart from one that was never issued")
    func otherDevice() {
        #expect(throws: Refusal(.invalidIdentityToken, "", reason: .nonceOtherDevice)) {
            try Nonce(shown: text(), thumbprint: Digest256.of("another"), key: key)
        }
        #expect(throws: Refusal(.invalidIdentityToken, "", reason: .nonceUnknown)) {
            try Nonce(shown: text(), thumbprint: device, key: NonceKey(Secret([UInt8](repeating: 8, count: 32))))
        }
    }

    @Test("is unknown after any change of a character")
    func tampered() {
        let characters = Array(text())
        for index in characters.indices {
            var changed = characters
            changed[index] = changed[index] == "A" ? "B" : "A"
            #expect(throws: Refusal(.invalidIdentityToken, "", reason: .nonceUnknown)) {
                try Nonce(shown: String(changed), thumbprint: device, key: key)
            }
        }
    }
}
