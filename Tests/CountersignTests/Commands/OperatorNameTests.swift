import Domain
import Foundation
import Testing

@testable import countersign

@Suite("Who gives a command")
struct OperatorNameTests {
    @Test("is the account of the system, with what sudo and the person say beside it")
    func names() throws {
        func text(_ actor: String?, _ account: String, _ environment: [String: String] = [:]) throws -> String {
            try OperatorName(actor: actor, account: account, environment: environment).text()
        }
        #expect(try text(nil, "ada") == "admin ada")
        #expect(try text(nil, "root", ["SUDO_USER": "ada"]) == "admin root (sudo ada)")
        #expect(try text("ben@example.org", "ada") == "admin ada (actor ben@example.org)")
        #expect(try text("bot", "root", ["SUDO_USER": "ada"]) == "admin root (sudo ada, actor bot)")
        // What is no name of an account is worth nothing.
        for claim in ["", "root", "a b", "a)", "a\nb", "ä", String(repeating: "a", count: 65)] {
            #expect(try text(nil, "root", ["SUDO_USER": claim]) == "admin root", "\(claim)")
        }
        for actor in ["", "a b", "a)", "x\u{1B}[31m", "ä", String(repeating: "a", count: 65)] {
            #expect(throws: CommandFailure.self, "\(actor)") { try text(actor, "ada") }
        }
    }

    @Test("is limited by the administrator of the process's account first, and by that of the sudo user next")
    func administrators() throws {
        let name = try OperatorName(actor: "bot", account: "root", environment: ["SUDO_USER": "ada"])
        #expect(name.accounts == ["root", "ada"])
        #expect(try OperatorName(actor: "ada", account: "ben", environment: [:]).accounts == ["ben"])
        let ada = Administrator(
            id: AdministratorID(UUID()), name: "ada.l", role: .reviewer, account: "ada", createdAt: Date(),
            removedAt: nil)
        #expect(name.text(ada) == "admin root (sudo ada, actor bot, administrator ada.l, role reviewer)")
    }

    @Test("may page through every list that has a limit")
    func pages() throws {
        var paged = 0
        for command in try HelpTests.described() where command.subcommands.isEmpty {
            let names = Set(
                command.arguments.compactMap { ($0["preferredName"] as? [String: Any])?["name"] as? String })
            guard names.contains("limit") else { continue }
            paged += 1
            #expect(names.contains("cursor"), "\(command.path)")
        }
        #expect(paged >= 10)
    }
}
