use clap::{CommandFactory, Parser};

use super::*;

fn parse(args: &[&str]) -> Result<Config, clap::Error> {
    Config::try_parse_from([&["grackle-server"], args].concat())
}

#[test]
fn every_flag_has_an_environment_variable_of_its_name() {
    let command = Config::command();
    let flags = command.get_arguments().filter_map(|arg| Some((arg.get_long()?, arg.get_env())));
    let flags: Vec<_> = flags.collect();
    assert!(flags.len() >= 18, "{flags:?}");
    for (flag, env) in flags {
        let expected = format!("GRACKLE_{}", flag.replace('-', "_").to_uppercase());
        assert_eq!(env.and_then(|name| name.to_str()), Some(expected.as_str()));
    }
}

#[test]
fn no_argument_means_the_defaults() {
    Config::command().debug_assert();
    let (parsed, default) = (parse(&[]).unwrap(), Config::default());
    assert_eq!(format!("{parsed:?}"), format!("{default:?}"));
    assert_eq!(parsed.client("redis://x").limits, grackle_client::Limits::default());
}

#[test]
fn flags_reach_the_client() {
    let args = ["--key-prefix", "k", "--max-leases", "7", "--max-lease-ttl-seconds", "60"];
    let client = parse(&args).unwrap().client("redis://x");
    assert_eq!(client.key_prefix, "k");
    assert_eq!((client.limits.max_leases, client.limits.max_lease_ttl_seconds), (7, 60));
    assert_eq!(client.on_drop, OnDrop::Park(Duration::from_secs(10)));
    assert_eq!(client.replica_acks, None);
    let acks = parse(&["--ack-replicas", "2", "--ack-within-ms", "50"]).unwrap();
    let within = Duration::from_millis(50);
    assert_eq!(acks.client("").replica_acks, Some(ReplicaAcks::new(2, within)));
    let at_once = parse(&["--hang-up-grace-seconds", "0"]).unwrap();
    assert_eq!(at_once.client("").on_drop, OnDrop::Leave);
}

#[test]
fn a_bad_value_is_refused_naming_its_flag() {
    for (flag, value) in [
        ("--max-leases", "many"),
        ("--max-leases", "-1"),
        ("--log-level", "loud"),
        ("--log-format", "xml"),
        ("--hang-up-grace-seconds", "1d"),
        ("--read-timeout-seconds", "0"),
        ("--ack-replicas", "-1"),
        ("--ack-within-ms", "60001"),
    ] {
        let error = parse(&[&format!("{flag}={value}")]).unwrap_err().to_string();
        assert!(error.contains(flag) && error.contains(value), "{error}");
    }
}

#[test]
fn help_does_not_show_the_redis_url_of_the_environment() {
    let command = Config::command();
    let url = command.get_arguments().find(|arg| arg.get_long() == Some("redis-url")).unwrap();
    assert!(url.is_hide_env_values_set());
}
