import Domain
import Encoding
import Operations

/// The searches. One that ends without an answer is a refusal, never an empty result.
enum SearchPages {
    static let routes: [ConsoleRoute] = [
        .page(
            "/search", .support, cost: .read,
            query: ["external_id", "user", "session", "device", "serial", "provider"], isPersonal: true
        ) { request in
            try await .page(page(request, result: result(request)))
        },
        .action("/search", .manage, cost: .write, isPersonal: true) { request in
            let found = try await findByTrait(request)
            if found.count == 1, let user = found.first { return .seeOther(Links.user(user.user.id)) }
            let result: SearchPage.Result =
                found.isEmpty ? .notFound(sentence: "No user has proven this number or document.") : .users(found)
            return .page(page(request, result: result))
        },
    ]

    private enum Trait: String, CaseIterable {
        case phone
        case document

        var label: String {
            switch self {
            case .phone: "Telephone number, in its international form"
            case .document: "Document, ISSUER:NUMBER, such as VA:T64235789 or D:C01X00T47"
            }
        }
    }

    private static func page(_ request: ConsoleRequest, result: SearchPage.Result) -> Page {
        let role = request.administrator.role
        let form = request.form(
            to: SearchPage.path,
            [
                .choice(
                    name: "trait", label: "Kind", options: Trait.allCases.map { ($0.rawValue, $0.label) }, chosen: nil),
                .text(name: "value", label: "Number or document", hint: nil, value: "", isRequired: true), .reason,
            ], submit: "Search by personal data")
        return SearchPage(result: result, role: role, personal: role.includes(.manage) ? form : nil).page
    }

    private static func findByTrait(_ request: ConsoleRequest) async throws -> [UserSummary] {
        let reason = try request.reason()
        let text = try request.required("value", label: "Number or document")
        switch request.value("trait").flatMap({ Trait(rawValue: $0) }) {
        case .phone:
            guard case .phone(let number) = try BanTarget.phone(reading: text) else { return [] }
            return try await found(BanForm.lookName(.phone, text), request) { administration in
                try await administration.findUsers(.phone(number), reason: reason)
            }
        case .document:
            guard case .document(let name) = try BanTarget.document(reading: text) else { return [] }
            return try await found(BanForm.lookName(.document, text), request) { administration in
                try await administration.findUsers(.document(name), reason: reason)
            }
        case nil: throw Refusal.fieldUnreadable("Kind")
        }
    }

    /// Counts the look before the search, which records it, and again when it is known at whom it is.
    private static func found(
        _ name: Digest256, _ request: ConsoleRequest, _ find: (Administration) async throws -> [UserSummary]
    ) async throws -> [UserSummary] {
        try request.look(by: name)
        let found = try await find(request.administration)
        if found.count == 1 { try request.look(by: name, at: found.map(\.user.id)) }
        return found
    }

    /// The result of the first field that has a value.
    private static func result(_ request: ConsoleRequest) async throws -> SearchPage.Result {
        let fields: [SearchPage.Field] = [.externalID, .user, .session, .device, .serial]
        for field in fields {
            guard let text = request.value(field.name) else { continue }
            do {
                return try await search(field, text, request)
            } catch let refusal as Refusal where refusal.code == .notFound {
                return .notFound(sentence: refusal.detail)
            }
        }
        request.looksAtNobody()
        return .none
    }

    private static func search(
        _ field: SearchPage.Field, _ text: String, _ request: ConsoleRequest
    ) async throws -> SearchPage.Result {
        let administration = request.administration
        switch field {
        case .externalID:
            let provider = request.value(SearchPage.Field.provider.name)
            let found = try await administration.findUsers(externalID: text, of: provider)
            try request.look(at: found.map(\.user.id))
            return found.isEmpty ? .notFound(sentence: "No user has the external id \(text).") : .users(found)
        case .user:
            let found = try await administration.readUser(text)
            try request.look(at: [found.user.id])
            return .users([found])
        case .session:
            let typed: TypedID<Kind.Session> = try ConsoleRequest.typed(text, "session")
            let session = try await administration.readSession(administration.resolve(typed))
            try request.look(at: [session.userID])
            return .session(session)
        case .device:
            let typed: TypedID<Kind.Device> = try ConsoleRequest.typed(text, "device")
            let device = try await administration.readDevice(administration.resolve(typed))
            try DevicePages.look(at: device, request)
            return .device(device.summary.id, of: "open sessions: \(BoundedCount.text(device.summary.sessions)).")
        case .serial:
            let found = try await administration.readCertificate(serial: text).certificate
            try request.look(by: Digest256.of("device \(found.deviceID)"))
            return .device(found.deviceID, of: "it has the certificate \(found.serial).")
        case .provider: return .none
        }
    }
}
