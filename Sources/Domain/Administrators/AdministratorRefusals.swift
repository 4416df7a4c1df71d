/// Refusals of administrators and of commands about them.
package extension Refusal {
    static func administratorRemoved(_ name: String) -> Refusal {
        Refusal(
            .insufficientScope, "The administrator \(name) was removed. Ask an administrator with the role security.")
    }

    static func roleInsufficient(_ administrator: Administrator, _ right: AdminRight) -> Refusal {
        let roles = AdminRole.allCases.filter { $0.includes(right) }.map(\.rawValue).joined(separator: " or ")
        return Refusal(
            .insufficientScope,
            "The administrator \(administrator.name) has the role \(administrator.role.rawValue), which does not permit "
                + "this. Ask an administrator with the role \(roles).")
    }

    static let administratorChanged = Refusal(
        .insufficientScope, "The administrator was changed while the command ran. Nothing was changed. Start it again.")

    static let administratorCertificateInvalid = Refusal(
        .certificateRevoked,
        "The certificate is not a valid one of an administrator. Ask an administrator with the role security to renew it."
    )

    static func unknownAdministrator(_ name: String) -> Refusal {
        Refusal(.notFound, "There is no administrator \(quoted(name)). Check the name.")
    }

    static func administratorExists(_ name: String) -> Refusal {
        Refusal(.conflict, "There is an administrator \(name) already. Choose another name, or remove that one first.")
    }

    static func administratorDiffersInCase(_ name: String) -> Refusal {
        Refusal(
            .conflict,
            "The administrator \(name) has this name in another case. Use that spelling, or choose another name.")
    }

    static func administratorAlreadyRemoved(_ name: String) -> Refusal {
        Refusal(.conflict, "The administrator \(name) is already removed. Nothing was changed.")
    }

    static func accountOfAnother(_ account: String, _ name: String) -> Refusal {
        Refusal(
            .conflict, "The account \(account) belongs to the administrator \(name). Add it under that name again.")
    }

    static func accountStaysMapped(_ name: String, _ account: String) -> Refusal {
        Refusal(
            .conflict,
            "The account \(account) belongs to \(name), and would get all rights without it. Leave the account out, or run "
                + "this with an account that has all rights.")
    }

    static func recentlyRemoved(_ name: String) -> Refusal {
        Refusal(
            .conflict,
            "\(name) was removed less than an hour ago, and had the role security. Add \(name) with that role, or in an hour."
        )
    }

    // MARK: Acts that need a second administrator

    static func waitsForSecond(_ id: WaitingActID) -> Refusal {
        Refusal(
            .conflict,
            "This needs a second administrator. It waits for 24 hours as act \(id), until another administrator with the "
                + "role security confirms it.", state: "waiting")
    }

    static func noWaitingAct(_ id: WaitingActID) -> Refusal {
        Refusal(.notFound, "No act \(id) waits. It was confirmed, or is older than 24 hours. Ask for it again.")
    }

    static let ownWaitingAct = Refusal(
        .conflict, "You asked for this act yourself. Another administrator with the role security must confirm it.")

    static let newSecondAdministrator = Refusal(
        .conflict,
        "You were added less than an hour before this act was asked for. Another administrator with the role security "
            + "must confirm it, or it must be asked for again.")

    static func requesterLostRole(_ name: String) -> Refusal {
        Refusal(
            .conflict,
            "The administrator \(name), who asked for this act, has no longer the right to it. Ask for it yourself.")
    }

    /// - Parameter expected: the number when it was asked for.
    static func actAffectsMore(_ users: Int, than expected: Int) -> Refusal {
        Refusal(
            .conflict,
            "The act would affect \(users.counting("user")) now, and \(expected) when it was asked for. Nothing was "
                + "changed. Ask for it again.")
    }

    static let noteOfWaitingBan = Refusal(
        .malformedRequest,
        "This ban waits for a second administrator, who gives the finding then. Leave the note out, or act at once with a "
            + "reason for the urgency.")

    static let unreadableAdministratorName = Refusal(
        .malformedRequest,
        "A name of an administrator or account has at most 64 characters: A to Z in either case, digits and the marks "
            + ". _ @ + -.")

    static func tooManyLooks(_ count: Int, retryAfter: Int) -> Refusal {
        Refusal(
            .rateLimited,
            "An administrator may look at \(count.counting("person")) in an hour. Try again in \(retryAfter) s.",
            retryAfter: retryAfter)
    }
}
