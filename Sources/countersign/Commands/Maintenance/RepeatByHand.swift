/// What a restore replays from the replaced store, and an operator must see to if that is lost.
enum RepeatByHand: CaseIterable {
    case erasures, bans, devices, administrators, administratorCertificates, providers, providerKeys, clients
    case resources, origins, attestedApps, receivers, spentTokens, messages, withdrawals

    /// The changes since the backup that are unknown.
    var changes: String {
        switch self {
        case .erasures: "erased users"
        case .bans: "bans and lifts"
        case .devices: "revoked devices and certificates"
        case .administrators: "dismissed administrators, who are active again, and roles that were lowered"
        case .administratorCertificates: "revoked certificates of administrators, which are valid again"
        case .providers: "disabled providers"
        case .providerKeys: "retired and revoked provider keys"
        case .clients: "client ids that providers by issuer lost"
        case .resources: "removed resource URLs"
        case .origins: "removed origins, to which wallets may return"
        case .attestedApps: "apps whose attestations are refused"
        case .receivers: "removed webhooks and event streams"
        case .spentTokens: "proofs, assertions, events and enrolment tokens that were used, which could be used again"
        case .messages: "messages and conversations that users deleted"
        case .withdrawals:
            "what users withdrew: permissions, memberships, findable addresses, apps, storage of messages and "
                + "presence; and their blocks"
        }
    }

    /// The commands that show the present state and repeat the changes, without `countersign`.
    var commands: [String] {
        switch self {
        case .erasures: ["user erase USER --reason user_request --yes"]
        case .bans: ["ban add --user USER --reason REASON", "ban lift BAN --note NOTE"]
        case .devices: ["device revoke DEVICE", "certificate revoke SERIAL"]
        case .administrators: ["admin list", "admin remove NAME", "admin add NAME --role support"]
        case .administratorCertificates: ["admin renew NAME --out FILE"]
        case .providers: ["provider list", "provider disable PROVIDER"]
        case .providerKeys: ["provider key list PROVIDER", "provider key revoke KEY", "provider key retire KEY"]
        case .clients:
            [
                "provider client list PROVIDER", "provider client remove PROVIDER --audience ID",
                "provider client remove PROVIDER --party ID",
            ]
        case .resources: ["provider resource list PROVIDER", "provider resource remove URL"]
        case .origins: ["provider origin list PROVIDER", "provider origin remove PROVIDER ORIGIN"]
        case .attestedApps:
            [
                "provider app attest list APP", "provider app attest remove APP --apple ID",
                "provider app attest remove APP --android PACKAGE --certificate SHA256",
            ]
        case .receivers: ["provider show PROVIDER"]
        case .spentTokens, .messages, .withdrawals: []
        }
    }

    /// What to do beside the commands, or instead of them if no command can do it.
    private var advice: String? {
        switch self {
        case .erasures: "A user whom the backup lacks needs nothing."
        case .receivers: "Only their providers can remove them: tell those."
        case .spentTokens: "No command repeats it: start the service two hours after the loss, when all have expired."
        case .messages, .withdrawals:
            "Only the users can repeat it. Their sessions have ended: tell them to check it when they sign in again."
        default: nil
        }
    }

    /// The row of the list: what is unknown, the commands, and the advice.
    var row: String {
        let commands = commands.isEmpty ? nil : commands.map { "countersign \($0)" }.joined(separator: ", ")
        guard let advice else { return "\(changes): \(commands ?? "")" }
        return "\(changes): \([commands, advice].compactMap(\.self).joined(separator: ". "))"
    }

    /// The tables whose rows come back, as the tests name what a restore does to each table.
    var tables: Set<String> {
        switch self {
        case .erasures: ["age_proofs", "authenticated_users", "data_keys", "identity_cards", "users"]
        case .bans: ["ban_holds", "bans"]
        case .devices: ["certificates", "devices", "revoked_keys"]
        case .administrators: ["admins"]
        case .administratorCertificates: ["admin_certificates"]
        case .providers: ["providers"]
        case .providerKeys: ["provider_keys"]
        case .clients: ["provider_clients"]
        case .resources: ["provider_resources"]
        case .origins: ["wallet_origins"]
        case .attestedApps: ["attested_apps"]
        case .receivers: ["event_streams", "provider_webhooks"]
        case .spentTokens: ["spent_identifiers"]
        case .messages: ["stream_event_readers", "stream_events", "stream_metadata", "streams"]
        case .withdrawals:
            [
                "authorizations", "blocks", "findable_addresses", "forbidden_apps", "presences", "storage_opt_outs",
                "stream_members",
            ]
        }
    }

    /// The fields of the losses that `RestoreStore` reads from the replaced store.
    var losses: Set<String> {
        switch self {
        case .erasures: ["erasures"]
        case .bans: ["bans"]
        case .devices: ["revoked", "revokedKeys"]
        case .administrators, .administratorCertificates: ["administrators"]
        case .providers: ["disabled"]
        case .providerKeys: ["providerKeys"]
        case .clients: ["clients"]
        case .resources, .origins, .attestedApps, .receivers: ["receivers"]
        case .spentTokens: ["spent"]
        case .messages: ["streams", "messages", "copies"]
        case .withdrawals: ["withdrawals"]
        }
    }
}

extension RepeatByHand {
    /// All rows if nothing was replayed, otherwise none.
    static func entries(isLost: Bool) -> [Entry] {
        let rows = isLost ? allCases.map(\.row) : []
        return [.json("repeat_by_hand", rows)] + rows.map { .people("repeat by hand", $0) }
    }
}
