import Authority
import Domain
import Encoding
import Foundation
import Operations

/// The page of a device: certificates with their lineage, and open sessions.
struct DevicePage: Sendable {
    let device: Administration.DeviceDetail
    let role: AdminRole
    let lifetimes: SessionPolicy
    let now: Date
}

extension DevicePage {
    var page: Page {
        let path = Links.device(device.summary.id)
        let actions = [
            Page.Link("Revoke all certificates", path.appending("revoke")),
            Page.Link("Ban", Links.newBan(.device, device.summary.id.description)),
            Page.Link("Bans of this device", Links.bans.adding("device", device.summary.id.description)),
        ]
        return Page(
            "Device \(device.summary.id)", above: [Links.search],
            content: """
                \(facts.markup)
                <h2>Actions</h2>
                \(Markup.list(actions.map(\.markup)))
                \(Self.certificates(now).markup(device.certificates))
                \(SessionTable(role: role, lifetimes: lifetimes, now: now).markup(device.sessions))
                """)
    }

    private var facts: Facts {
        var facts = Facts()
        facts.add("Certified", device.summary.createdAt)
        facts.add("User agent", device.summary.userAgent)
        facts.add("Attested by its maker as", device.summary.attestation.rawValue)
        facts.add("Key that needs the user's presence", device.summary.hasPresenceKey ? "yes" : "no")
        for ban in device.bans {
            let end = ban.endsAt.map { "until \($0.rfc3339)" } ?? "permanent"
            facts.add("Banned", "ban \(ban.id), \(ban.reason.rawValue), \(end)")
        }
        facts.add("Valid certificates", device.summary.certificates)
        facts.add("Open sessions", BoundedCount.text(device.summary.sessions))
        return facts
    }

    private static func certificates(_ now: Date) -> DataTable<DeviceCertificate> {
        DataTable(
            "Certificates, newest first", none: "The device has no certificate.",
            [
                .text("Serial number") { $0.serial }, .text("State") { Self.state($0, now) },
                .time("Issued") { $0.issuedAt }, .time("Valid until") { $0.notAfter },
                .text("Renews") { $0.replaces }, .time("First seen", none: "never") { $0.firstSeenAt },
                .time("Revoked") { $0.revoked?.at }, .text("Why") { $0.revoked?.reason },
            ])
    }

    private static func state(_ certificate: DeviceCertificate, _ now: Date) -> String {
        if certificate.revoked != nil { return "revoked" }
        return now < certificate.notAfter ? "valid" : "expired"
    }
}

/// Devices and the revocation of their certificates.
enum DevicePages {
    static let routes: [ConsoleRoute] = [
        .page("/devices/{}", .manage, cost: .read, isPersonal: true) { request in
            let device = try await request.administration.readDevice(id(request))
            try look(at: device, request)
            return .page(
                DevicePage(
                    device: device, role: request.administrator.role,
                    lifetimes: request.parts.service.policy[\.sessions], now: request.now
                ).page)
        },
        .page("/devices/{}/revoke", .manage, cost: .read, isPersonal: true) { request in
            let device = try await request.administration.readDevice(id(request))
            try look(at: device, request)
            let preview = try await request.administration.previewRevocation(of: id(request))
            return .page(revocation(device, preview, request).page)
        },
        .action("/devices/{}/revoke", .manage, cost: .write) { request in
            let id = try id(request)
            let label = "Reason"
            guard let reason = RevocationReason(rawValue: try request.required("reason", label: label)) else {
                throw Refusal.fieldUnreadable(label)
            }
            let agreed = try request.agreedUsers()
            _ = try await request.administration.revokeDevice(id, reason: reason, upTo: agreed)
            return .seeOther(Links.device(id))
        },
    ]

    /// The look at a device is at its user. If it has several, it is one look.
    static func look(at device: Administration.DeviceDetail, _ request: ConsoleRequest) throws(Refusal) {
        try request.look(by: Digest256.of("device \(device.summary.id)"), at: Array(Set(device.sessions.map(\.userID))))
    }

    private static func id(_ request: ConsoleRequest) throws(Refusal) -> DeviceID {
        guard let id = DeviceID(request.name) else { throw Refusal.notAnID("device") }
        return id
    }

    static func revocation(
        _ device: Administration.DeviceDetail, _ preview: Administration.DeviceRevocation, _ request: ConsoleRequest
    ) -> Confirmation {
        let (id, users) = (device.summary.id, preview.users)
        let (certificates, sessions) = (preview.serials.count, preview.sessionsEnded)
        let more: Markup = sessions.isMore ? "More than " : .empty
        return Confirmation(
            title: "Revoke device \(id)",
            above: [
                Links.search, Page.Link("Device \(id)", Links.device(id)),
            ],
            effects: [
                "\(Markup.count(certificates, "certificate")) will be revoked, and the device's connections will close.",
                "\(more)\(Markup.count(sessions.count, "session")) of \(Markup.count(users, "user")) will end, on every node.",
                "The device must be certified again, with another key.",
            ],
            form: request.form(
                to: Links.device(id).appending("revoke"),
                [
                    .choice(
                        name: "reason", label: "Reason",
                        options: RevocationReason.allCases.map { ($0.rawValue, $0.rawValue) },
                        chosen: RevocationReason.keyCompromise.rawValue)
                ] + AgreedUsers.fields(users), submit: "Revoke the device", isDangerous: true))
    }
}
