import Foundation
import Testing

@testable import Domain

@Suite("The role of an administrator")
struct AdministratorRoleTests {
    private static func administrator(_ role: AdminRole, removedAt: Date? = nil) -> Administrator {
        Administrator(
            id: AdministratorID(UUID()), name: "lena", role: role, account: nil, createdAt: Date.distantPast,
            removedAt: removedAt)
    }

    /// The rights of each role, besides the one to find an id by its beginning.
    private static let rights: [AdminRole: Set<AdminRight>] = [
        .auditor: [.audit], .support: [.support], .reviewer: [.review],
        .security: [.audit, .support, .review, .manage],
    ]

    @Test("permits what the table says and nothing else", arguments: AdminRole.allCases)
    func table(role: AdminRole) throws {
        let permitted = try #require(Self.rights[role]).union([.resolve])
        #expect(Set(AdminRight.allCases.filter(role.includes)) == permitted)
        for right in AdminRight.allCases {
            var code: Refusal.Code?
            do throws(Refusal) { try Self.administrator(role).require(right) } catch { code = error.code }
            #expect(code == (permitted.contains(right) ? nil : .insufficientScope), "\(right)")
        }
    }

    @Test("permits nothing after the removal", arguments: AdminRole.allCases)
    func removed(role: AdminRole) {
        for right in AdminRight.allCases {
            #expect(throws: Refusal.administratorRemoved("lena")) {
                try Self.administrator(role, removedAt: Date.distantPast).require(right)
            }
        }
    }

    @Test("belongs to a name without signs that another text could end or imitate")
    func names() {
        for name in ["a", "lena", "lena.m_1@example.org", "A+b-c", String(repeating: "a", count: 64)] {
            #expect(Administrator.isName(name), "\(name)")
        }
        for name in ["", "a b", "a,b", "a)", "ä", "a\u{301}", "a\n", String(repeating: "a", count: 65)] {
            #expect(!Administrator.isName(name), "\(name)")
        }
    }
}
