# Verifies sessions' tokens by ruby-jwt: ruby verify.rb WORLD prints one verdict for each case.

require "digest"
require "json"
require "jwt"
require "net/http"
require "openssl"

world = JSON.parse(File.read(ARGV[0]))

def fetch(url, authority)
  uri = URI(url)
  options = { use_ssl: true, ca_file: authority, open_timeout: 10, read_timeout: 10 }
  Net::HTTP.start(uri.host, uri.port, nil, nil, nil, nil, options) { |http| JSON.parse(http.get(uri.path).body) }
end

def digest(bytes)
  Base64.urlsafe_encode64(Digest::SHA256.digest(bytes), padding: false)
end

def thumbprint(key)
  names = key["kty"] == "EC" ? %w[crv kty x y] : %w[e kty n]
  digest(JSON.generate(names.to_h { |name| [name, key[name]] }))
end

def judge(one, world, keys)
  rules = {
    algorithms: %w[RS256 ES256], jwks: keys, iss: world["issuer"], verify_iss: true, aud: one["audience"],
    verify_aud: true, required_claims: %w[exp cnf sid]
  }
  claims, header = JWT.decode(one["token"], nil, true, rules)
  raise "typ" unless header["typ"] == "at+jwt"

  if (expected = claims["cnf"]["jkt"])
    raise "jkt" unless one["jwk"] && thumbprint(one["jwk"]) == expected
  else
    der = OpenSSL::X509::Certificate.new(one["certificate"]).to_der
    raise "x5t" unless digest(der) == claims["cnf"]["x5t#S256"]
  end
  claims["sub"]
end

keys = fetch(world["jwks_uri"], world["ca"])
world["cases"].each do |one|
  puts "accepted #{judge(one, world, keys)}"
rescue StandardError => e
  puts "refused #{e.message.lines.first}"
end
