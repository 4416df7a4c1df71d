import Fixtures
import Foundation
import Testing

@testable import CountersignClient

/// A keychain outlives its app. What `KeychainStore` writes there can be opened with a file of the app's container alone.
@Suite("The secret in a keychain")
struct SealedSecretTests {
    @Test("opens in the container of its app, and in no other, nor after the app was deleted")
    func container() throws {
        let place = try ScratchDirectory()
        let (own, other) = (URL(filePath: place.file("own.key")), URL(filePath: place.file("other.key")))
        let secret = Data("certificate and session".utf8)
        let sealed = try SealedSecret.seal(secret, keyFile: own)
        #expect(sealed.range(of: secret) == nil)
        #expect(try SealedSecret.seal(secret, keyFile: own) != sealed)
        #expect(try SealedSecret.open(sealed, keyFile: own) == secret)
        let permissions = try FileManager.default.attributesOfItem(atPath: own.path)[.posixPermissions] as? Int
        #expect(permissions == 0o600)

        _ = try SealedSecret.seal(secret, keyFile: other)
        #expect(try SealedSecret.open(sealed, keyFile: other) == nil)
        var changed = sealed
        changed[changed.index(before: changed.endIndex)] ^= 1
        #expect(try SealedSecret.open(changed, keyFile: own) == nil)

        try FileManager.default.removeItem(at: own)
        #expect(try SealedSecret.open(sealed, keyFile: own) == nil)
        // The app that was installed anew has another key.
        _ = try SealedSecret.seal(secret, keyFile: own)
        #expect(try SealedSecret.open(sealed, keyFile: own) == nil)
    }
}
