import Domain

/// Refusals of configurations and polls of event streams.
extension Refusal {
    static func setByService(_ path: String) -> Refusal {
        Refusal(.malformedRequest, "$.\(path) is set by this service. Omit it or send it unchanged.")
    }

    static func unreadableEvents(allowed: Int) -> Refusal {
        memberMustBe("a list of 1 to \(allowed) URIs of events", "events_requested")
    }

    static func unreadableHeader(allowed: Int) -> Refusal {
        memberMustBe("1 to \(allowed) characters of ASCII", "delivery.authorization_header")
    }
}
