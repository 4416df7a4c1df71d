import Domain
import Foundation
import Testing

@Suite("The keys that a key added")
struct DescendantTests {
    private func key(_ id: ProviderKeyID, by adder: ProviderKeyID?) -> ProviderKeyRecord {
        ProviderKeyRecord(
            id: id, providerID: ProviderID(UUID()), algorithm: "ES256", subjectPublicKeyInfo: [],
            origin: adder == nil ? .admin : .provider, addedBy: adder, createdAt: .distantPast, retiredAt: nil,
            revokedAt: nil)
    }

    @Test("are found over all generations, and a circle ends")
    func generations() {
        let ids = (0..<6).map { _ in ProviderKeyID(UUID()) }
        let keys = [
            key(ids[0], by: nil), key(ids[1], by: ids[0]), key(ids[2], by: ids[1]), key(ids[3], by: ids[1]),
            key(ids[4], by: nil),
        ]
        #expect(keys.descendants(of: ids[0]).map(\.id) == [ids[1], ids[2], ids[3]])
        #expect(keys.descendants(of: ids[1]).map(\.id) == [ids[2], ids[3]])
        #expect(keys.descendants(of: ids[3]).isEmpty)
        #expect(keys.descendants(of: ids[4]).isEmpty)
        #expect(keys.descendants(of: ids[5]).isEmpty)
        let circle = [key(ids[0], by: ids[2]), key(ids[1], by: ids[0]), key(ids[2], by: ids[1])]
        #expect(circle.descendants(of: ids[0]).map(\.id) == [ids[1], ids[2]])
    }
}
