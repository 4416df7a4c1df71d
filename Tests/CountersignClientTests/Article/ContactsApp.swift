import CountersignClient
import Foundation

/// The app of the article on contacts, block by block.
struct ContactsApp {
    let client: Countersign
    let alice: UUID

    /// Returns what the app printed.
    func run() async throws -> [String] {
        var lines: [String] = []
        func print(_ line: String) { lines.append(line) }

        try await client.addresses.share(.name)
        for address in try await client.addresses.list() { print("Others find this user by \(address.type.rawValue).") }

        if let user = try await client.addresses.resolve("devices/alice") {
            print("Alice is \(user == alice ? "here" : "somebody else").")
        }

        var book = AddressBook()
        let number = Person.Address(.phone, "+14155550101")
        book.add([Person(firstName: "Catherine", lastName: "Smith", addresses: [number])])
        for match in book.add([Person(firstName: "Katherine", lastName: "Smyth", addresses: [number])]) {
            print("Two entries are one person by \(Int((match.probability * 100).rounded())) percent.")
        }

        let numbers = book.people.flatMap(\.addresses).filter { $0.type == .phone }.map(\.value)
        let found = try await client.contacts.find(numbers)
        print("Found: \(found.count).")

        let permission = try await client.permissions.ask("devices/alice")
        let state = try await client.permissions.show(permission).state
        print("The state is \(state.rawValue).")
        return lines
    }
}
